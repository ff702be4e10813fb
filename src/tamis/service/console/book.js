// The table of subscriptions: search, pages, and buttons to pause, resume and delete.

import { request } from "./api.js";
import { at, make, number } from "./dom.js";

let next = null;
let total = null;

async function act(button, name, run) {
  button.disabled = true;
  try {
    await run();
    await load();
  } catch (bad) {
    at("book-caption").textContent = `${name}: ${bad.message}`;
    button.disabled = false;
  }
}

function buttons(one) {
  const path = `/v1/subscriptions/${encodeURIComponent(one.id)}`;
  const button = (text, run) => {
    const made = make("button", { type: "button", "aria-label": `${text} ${one.id}` }, text);
    made.addEventListener("click", () => act(made, one.id, run));
    return made;
  };
  const turn = one.status === "active" ? "pause" : "resume";
  return [
    button(turn === "pause" ? "Pause" : "Resume", () => request("POST", `${path}/${turn}`)),
    button("Delete", () => request("DELETE", path)),
  ];
}

function warned(one) {
  return one.warnings.map((warning) => make("div", { className: "warn" }, warning.message));
}

function row(one) {
  const state = make("td", { className: one.status === "active" ? "good" : "warn" }, one.status);
  return make("tr", {},
    make("td", {}, one.id),
    make("td", { className: "code" }, one.expression),
    make("td", {}, one.schedule || "at once"),
    make("td", {}, one.delivery ? one.delivery.transport : "kept here", ...warned(one)),
    state,
    make("td", {}, ...buttons(one)));
}

export async function load(cursor) {
  const asked = new URLSearchParams({ limit: "20" });
  if (at("filter-text").value) asked.set("text", at("filter-text").value);
  if (at("filter-status").value) asked.set("status", at("filter-status").value);
  const filtered = asked.has("text") || asked.has("status");
  if (cursor) asked.set("cursor", cursor);
  else asked.set("count", "true");
  const page = await request("GET", `/v1/subscriptions?${asked}`);
  if (!cursor) total = page.total;
  const rows = page.items.map(row);
  if (cursor) at("subscriptions").append(...rows);
  else if (rows.length) at("subscriptions").replaceChildren(...rows);
  else at("subscriptions").replaceChildren(make("tr", {}, make("td", { colSpan: 6, className: "quiet" }, total ? "None on this page. Choose More." : filtered ? "No subscription fits the filter." : "No subscriptions yet. Write one above.")));
  at("book-caption").textContent = `${number(total)} ${filtered ? "found" : "in all"}, in the order of their ids`;
  next = page.next;
  at("more").hidden = !next;
}

export function start() {
  at("filter").addEventListener("submit", (event) => { event.preventDefault(); load(); });
  at("more").addEventListener("click", () => load(next));
}
