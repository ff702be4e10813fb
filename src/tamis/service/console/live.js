// The live section: the stream of matches, their deliveries, and the figures of the last minute.

import { listen, request } from "./api.js";
import { draw } from "./chart.js";
import { at, make, number, size } from "./dom.js";

const SHOWN = 50;
const UPDATED_AT_ONCE = 5;
const FINAL = new Set(["kept", "delivered", "dead", "cancelled"]);
const rows = new Map(); // by number in the outbox
let held = false;
let last = null;
let stop = new AbortController();

function state(text) { at("stream-state").textContent = text; }

function clock(moment) { return moment ? new Date(moment).toLocaleTimeString() : ""; }

function show(kind, row) {
  if (rows.size === 0) at("matches").replaceChildren();
  const cell = make("td", { className: "quiet" }, "…");
  const event = kind === "match" ? `${row.event.id} ${JSON.stringify(row.event.attributes ?? {}).slice(0, 200)}` : `${row.content?.count ?? ""} matches`;
  const line = make("tr", { className: "fresh" },
    make("td", { className: "brief" }, clock(row.at)), make("td", {}, row.subscription), make("td", { className: "code" }, event),
    make("td", { className: "brief" }, kind), cell);
  rows.set(row.number, { line, cell, subscription: row.subscription, settled: false });
  at("matches").prepend(line);
  while (rows.size > SHOWN) {
    const oldest = rows.keys().next().value;
    rows.get(oldest).line.remove();
    rows.delete(oldest);
  }
}

function settle(row) {
  const known = rows.get(row.number);
  if (!known) return;
  known.settled = FINAL.has(row.state);
  known.cell.textContent = (row.state === "kept" ? "kept here" : row.state) + (row.error ? `: ${row.error}` : "");
  known.cell.className = row.state === "delivered" ? "good" : row.state === "dead" ? "bad" : "quiet";
}

// Updates the delivery states of the rows in the table, a few subscriptions at a time.
async function updateDeliveries() {
  const open = [...rows.values()].filter((one) => !one.settled).map((one) => one.subscription);
  for (const name of [...new Set(open)].slice(-UPDATED_AT_ONCE)) {
    const page = await request("GET", `/v1/subscriptions/${encodeURIComponent(name)}/notifications?limit=${SHOWN}`);
    page.items.forEach(settle);
  }
}

async function follow() {
  for (;;) {
    stop = new AbortController();
    try {
      await listen("/v1/stream", last, (kind, row, id) => {
        if (kind === "open") return state("connected");
        if (id) last = id;
        return held ? undefined : show(kind, row);
      }, stop.signal);
      state("the stream ended; connecting again");
    } catch (bad) {
      state(bad.name === "AbortError" ? "connecting" : `not connected: ${bad.message}`);
    }
    await new Promise((done) => { setTimeout(done, 1000); });
  }
}

function figures(status) {
  const rates = status.rates;
  at("figure-subscriptions").textContent = number(status.owner.held.subscriptions);
  at("figure-events").textContent = number(rates.at(-1)?.events ?? 0);
  at("figure-matches").textContent = number(rates.at(-1)?.matches ?? 0);
  at("figure-lag").textContent = number(status.lag);
  at("figure-deliveries").textContent = number(status.deliveries.waiting + status.deliveries.claimed);
  draw(at("chart-events"), rates.map((rate) => rate.events), "Events per second");
  draw(at("chart-matches"), rates.map((rate) => rate.matches), "Matches per second");
  at("segments").replaceChildren(...(status.index?.segments ?? []).map((one) => make("tr", {},
    make("td", {}, one.engine), make("td", { className: "number" }, number(one.subscriptions)),
    make("td", { className: "number" }, number(one.removed)), make("td", { className: "number" }, number(one.clauses)),
    make("td", { className: "number" }, size(one.bytes)))));
  const analysers = Object.entries(status.index?.analysers ?? {});
  at("analysers-table").hidden = analysers.length === 0;
  at("analysers").replaceChildren(...analysers.map(([attribute, analyser]) => make("tr", {},
    make("td", {}, attribute), make("td", {}, typeof analyser === "string" ? analyser : JSON.stringify(analyser)))));
  at("states").replaceChildren(...Object.entries(status.deliveries).map(([name, count]) => make("tr", {},
    make("td", { className: name === "dead" && count ? "bad" : "" }, name), make("td", { className: "number" }, number(count)))));
}

async function watch() {
  try {
    figures(await request("GET", "/v1/status"));
    await updateDeliveries();
    at("notice").hidden = true;
  } catch (bad) {
    at("notice").hidden = false;
    at("notice").textContent = bad.message;
  }
  setTimeout(watch, 1000);
}

export function again() { last = null; stop.abort(); }

export function start() {
  at("pause-stream").addEventListener("click", () => {
    held = !held;
    at("pause-stream").setAttribute("aria-pressed", String(held));
    at("pause-stream").textContent = held ? "Resume" : "Pause";
  });
  follow();
  watch();
}
