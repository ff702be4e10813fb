// Sends requests with the key, throws problems as errors, and reads the stream of server-sent events.

const KEPT = "tamis-key"; // for this tab only

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the service answered ${status}`);
    this.status = status;
    this.code = body.code;
    this.position = body.position;
  }
}

export const key = () => sessionStorage.getItem(KEPT);
export const keep = (value) => sessionStorage.setItem(KEPT, value);

export async function request(method, path, body) {
  const headers = { authorization: `Bearer ${key()}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (answer.status === 204) return null;
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Problem(answer.status, content);
  return content;
}

// Calls `handle(kind, data, id)` for each event of the stream; resolves when the stream ends.
export async function listen(path, after, handle, signal) {
  const headers = { authorization: `Bearer ${key()}`, accept: "text/event-stream" };
  if (after) headers["last-event-id"] = after;
  const answer = await fetch(path, { headers, signal });
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  handle("open");
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) parse(block, handle);
  }
}

function parse(block, handle) {
  const fields = { event: "message", data: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 1).trimStart();
  }
  if (fields.data) handle(fields.event, JSON.parse(fields.data), fields.id);
}
