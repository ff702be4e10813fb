// DOM helpers. Text from users is always set as text, never as HTML.

export const at = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "scope") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children);
  return node;
}

// Returns the nodes of a text in unmarked and marked pieces in turn.
export const marked = (pieces) => pieces.map((piece, place) => (place % 2 ? make("mark", {}, piece) : piece));

export const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));

export function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) { bytes /= 1000; unit += 1; }
  return `${bytes.toFixed(unit ? 1 : 0)} ${units[unit]}`;
}

export function later(wait, run) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), wait);
  };
}
