// Signing in, and starting the parts of the page.

import { keep, key, request } from "./api.js";
import * as book from "./book.js";
import { at } from "./dom.js";
import * as live from "./live.js";
import * as write from "./write.js";

let started = false;

async function enter() {
  const who = await request("GET", "/v1/status");
  at("who").textContent = `${who.owner.owner} (${who.scopes.join(", ")})`;
  if (!started) {
    started = true;
    write.start(() => book.load());
    book.start();
    live.start();
  } else {
    live.again();
  }
  await book.load();
}

function ask(problem = "") {
  at("key-problem").textContent = problem;
  if (!at("sign-in").open) at("sign-in").showModal();
}

at("key-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const before = key();
  keep(at("key").value.trim());
  try {
    await enter();
    at("key").value = "";
    at("sign-in").close();
  } catch (bad) {
    if (before) keep(before);
    ask(bad.message);
  }
});
at("change-key").addEventListener("click", () => ask());

if (key()) enter().catch((bad) => ask(bad.message));
else ask();
