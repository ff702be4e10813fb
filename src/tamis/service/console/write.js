// The editor: validates the expression while it is typed, underlines errors, tries the sample event, saves.

import { Problem, request } from "./api.js";
import { at, later, make, marked } from "./dom.js";

const ADDRESS = { webhook: ["url", "https://…"], email: ["to", "you@example.org"], sms: ["to", "+49…"], file: ["name", "matches.jsonl"] };
const SHOWN = 20; // subscriptions that match the sample event
let asked = 0;

function source() {
  const form = at("form").value;
  const text = at("expression").value;
  if (form !== "json" && form !== "eventbridge") return { expression: text, form };
  try { return { expression: JSON.parse(text), form }; } catch { return { expression: text, form }; }
}

function sample() {
  try {
    return JSON.parse(at("event").value);
  } catch (bad) {
    at("event-verdict").replaceChildren(make("span", { className: "bad" }, `The event is not JSON: ${bad.message}`));
    return undefined;
  }
}

function underline(text, position) {
  const end = Math.min(text.length, position + Math.max(1, (text.slice(position).match(/^\w+/) || [""])[0].length));
  const marked = make("mark", {}, text.slice(position, end) || " ");
  at("underline").replaceChildren(text.slice(0, position), marked, text.slice(end));
  at("underline").scrollTop = at("expression").scrollTop;
}

function forget() {
  at("underline").replaceChildren();
  at("predicates").replaceChildren();
  at("verdict").replaceChildren();
  at("event-verdict").replaceChildren();
  at("expression").removeAttribute("aria-invalid");
}

function blame(errors) {
  const about = errors.find((one) => one.field === "expression");
  if (about) {
    at("expression").setAttribute("aria-invalid", "true");
    if (about.position !== undefined && typeof source().expression === "string") underline(at("expression").value, about.position);
  }
  at("verdict").replaceChildren(make("ul", {}, ...errors.map((one) => make("li", { className: "bad" }, one.message))));
}

const percent = (share) => `${(100 * share).toLocaleString("en", { maximumSignificantDigits: 2 })} %`;
const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function summary(advice) {
  const { selectivity, cost } = advice;
  const matched = selectivity.measured
    ? `matches ${percent(selectivity.share)} of ${counted(selectivity.events, "recent event")}`
    : `matches perhaps ${percent(selectivity.share)} of events`;
  const parts = `${counted(advice.predicates, "predicate")}, ${counted(advice.clauses, "clause")}`;
  return `${parts}; ${matched}; examined for ${percent(cost.share)} of them.`;
}

function praise(found) {
  const lines = [make("span", { className: "good" }, "Valid. "), make("code", {}, found.text),
    make("div", { className: "quiet" }, summary(found.advice))];
  const warnings = [...found.advice.warnings.map((one) => one.text), ...found.warnings.map((one) => one.message)];
  if (warnings.length) {
    lines.push(make("ul", {}, ...warnings.map((text) => make("li", { className: "warn" }, text))));
  }
  at("verdict").replaceChildren(...lines);
}

function* predicates(node) {
  if (node.attribute !== undefined) yield node;
  for (const child of node.children || []) yield* predicates(child);
}

// Returns a line for each text, with its marked words.
const found = (snippets) => snippets.map((one) => make("div", {}, make("span", { className: "quiet" }, `${one.attribute}: `), ...marked(one.pieces)));

function explain(explanation) {
  if (!explanation) return;
  const verdict = explanation.matched
    ? make("span", { className: "good" }, "The event matches.")
    : make("span", { className: "bad" }, "The event does not match.");
  at("event-verdict").replaceChildren(verdict);
  const lines = [...predicates(explanation)].map((part) =>
    make("li", {},
      make("span", { className: `sign ${part.matched ? "good" : "bad"}` }, part.matched ? "✓ true" : "✗ false"),
      make("code", {}, part.text),
      part.snippets
        ? make("div", { className: "found", title: part.reason }, ...found(part.snippets))
        : make("span", { className: "quiet" }, part.reason || "")));
  at("predicates").replaceChildren(make("ul", { "aria-label": "Outcome of each predicate" }, ...lines));
}

async function check() {
  const mine = ++asked;
  const draft = source();
  if (!at("expression").value.trim()) return forget();
  forget();
  const event = sample();
  try {
    const found = await request("POST", "/v1/subscriptions/validate", { ...draft, ...routing(), event });
    if (mine !== asked) return;
    if (found.valid) praise(found);
    else blame(found.errors);
    explain(found.explanation);
  } catch (bad) {
    if (mine === asked && bad instanceof Problem) blame([{ field: "request", message: bad.message }]);
  }
}

function delivery() {
  const transport = at("transport").value;
  if (!transport) return null;
  const field = ADDRESS[transport];
  return field ? { transport, [field[0]]: at("address").value } : { transport };
}

// Returns the delivery and schedule to validate; an address that is not written yet is no error.
function routing() {
  const schedule = at("schedule").value;
  const sends = delivery();
  return { ...(schedule ? { schedule } : {}), ...(sends && (!ADDRESS[sends.transport] || at("address").value) ? { delivery: sends } : {}) };
}

async function save(event, saved) {
  event.preventDefault();
  const body = { ...source(), schedule: at("schedule").value || null, delivery: delivery() };
  if (at("id").value) body.id = at("id").value;
  try {
    const made = await request("POST", "/v1/subscriptions", body);
    at("saved").replaceChildren(
      make("span", { className: "good" }, `Saved as ${made.id}, version ${made.version}.`),
      ...made.warnings.map((one) => make("div", { className: "warn" }, `Warning: ${one.message}`)));
    saved();
  } catch (bad) {
    at("saved").replaceChildren(make("span", { className: "bad" }, bad.message));
  }
}

async function publish(event) {
  event.preventDefault();
  const attributes = sample();
  if (attributes === undefined) return;
  try {
    const published = await request("POST", "/v1/events", { attributes });
    at("published").replaceChildren(make("span", { className: "good" }, `Accepted as ${published.id}. The matches appear under Live.`));
  } catch (bad) {
    at("published").replaceChildren(make("span", { className: "bad" }, bad.message));
  }
}

async function match() {
  const attributes = sample();
  if (attributes === undefined) return;
  try {
    const page = await request("POST", "/v1/match", { event: { attributes }, highlight: true });
    const shown = page.matches.slice(0, SHOWN);
    const names = shown.map((one) => one.id).join(", ") + (page.total > SHOWN ? ", …" : "");
    const words = shown.filter((one) => one.highlights?.snippets.length).map((one) =>
      make("li", {}, make("code", {}, one.id), make("div", { className: "found" }, ...found(one.highlights.snippets))));
    at("published").replaceChildren(
      shown.length ? `${page.total} match: ${names}` : "None of your subscriptions matches it.",
      ...(words.length ? [make("ul", { className: "words", "aria-label": "Words that match" }, ...words)] : []));
  } catch (bad) {
    at("published").replaceChildren(make("span", { className: "bad" }, bad.message));
  }
}

export function start(saved) {
  const soon = later(200, check);
  at("expression").addEventListener("input", soon);
  at("expression").addEventListener("scroll", () => { at("underline").scrollTop = at("expression").scrollTop; });
  at("event").addEventListener("input", soon);
  at("form").addEventListener("change", check);
  at("address").addEventListener("input", soon);
  at("schedule").addEventListener("input", soon);
  at("transport").addEventListener("change", () => {
    const field = ADDRESS[at("transport").value];
    at("address-label").hidden = !field;
    if (field) at("address").placeholder = field[1];
    check();
  });
  at("draft").addEventListener("submit", (event) => save(event, saved));
  at("trial").addEventListener("submit", publish);
  at("match").addEventListener("click", match);
}
