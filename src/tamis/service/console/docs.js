// Renders the service's OpenAPI description, without a library and without other hosts.
"use strict";

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function resolved(api, schema) {
  return schema && schema.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema;
}

function typeOf(api, schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(api, one)).join(" | ");
  if (schema.type === "array") return `[${typeOf(api, schema.items)}]`;
  return schema.format ? `${schema.type} (${schema.format})` : schema.type || "anything";
}

function table(heads, rows) {
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
}

function fields(api, schema) {
  const known = resolved(api, schema);
  if (!known || !known.properties) return make("p", { class: "soft" }, typeOf(api, schema));
  const needed = new Set(known.required || []);
  return table(["field", "type", ""], Object.entries(known.properties).map(([name, one]) => [
    make("code", {}, needed.has(name) ? name : `${name}?`),
    make("code", {}, typeOf(api, one)),
    one.description || "",
  ]));
}

function parameters(api, operation) {
  if (!operation.parameters.length) return null;
  return make("div", {}, make("h3", {}, "Parameters"), table(["name", "in", "type", ""],
    operation.parameters.map((one) => [
      make("code", {}, one.required ? one.name : `${one.name}?`), one.in,
      make("code", {}, typeOf(api, one.schema)), one.description || "",
    ])));
}

function body(api, operation) {
  if (!operation.requestBody) return null;
  const [media, ...more] = Object.keys(operation.requestBody.content);
  const kinds = [media, ...more].join(" or ");
  return make("div", {}, make("h3", {}, `Body: ${kinds}`), fields(api, operation.requestBody.content[media].schema));
}

function answers(api, operation) {
  const parts = [make("h3", {}, "Responses")];
  const refusals = [];
  for (const [status, answer] of Object.entries(operation.responses)) {
    const content = answer.content || {};
    if (content["application/problem+json"]) { refusals.push(`${status} ${answer.description}`); continue; }
    parts.push(make("p", {}, make("strong", {}, status), ` ${answer.description} `,
      make("span", { class: "soft" }, Object.keys(content).join(" or "))));
    if (content["application/json"]) parts.push(fields(api, content["application/json"].schema));
  }
  if (refusals.length) parts.push(make("p", { class: "soft" }, `Problems: ${refusals.join(", ")}`));
  return make("div", {}, ...parts);
}

function section(api, path, method, operation) {
  const head = make("summary", {}, make("span", { class: "method" }, method.toUpperCase()),
    make("code", {}, path), make("span", { class: "soft" }, ` ${operation.summary}`));
  return make("details", { id: operation.operationId }, head, make("p", {}, operation.description),
    parameters(api, operation), body(api, operation), answers(api, operation));
}

function opened() {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) { target.open = true; target.scrollIntoView(); }
}

async function draw() {
  const api = await (await fetch("/openapi.json")).json();
  document.getElementById("about").textContent = `${api.info.description} Version ${api.info.version}.`;
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const group = groups.get(operation.tags[0]) || [];
      groups.set(operation.tags[0], group.concat([[path, method, operation]]));
    }
  }
  for (const [tag, operations] of groups) {
    document.getElementById("contents").append(make("h2", {}, tag), make("ul", {}, ...operations.map(
      ([path, method, operation]) => make("li", {}, make("a", { href: `#${operation.operationId}` },
        make("code", {}, `${method.toUpperCase()} ${path}`))))));
    document.getElementById("operations").append(make("h2", {}, tag),
      ...operations.map(([path, method, operation]) => section(api, path, method, operation)));
  }
  addEventListener("hashchange", opened);
  opened();
}

draw().catch((bad) => { document.getElementById("about").textContent = `The description cannot be read: ${bad}`; });
