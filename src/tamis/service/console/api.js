// Requests with the key, problems as errors, and the stream of server-sent events with headers.

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
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Problem(answer.status, told);
  return told;
}

// Calls `tell(kind, data)` for each event of the stream; resolves when it ends.
export async function listen(path, after, tell, signal) {
  const headers = { authorization: `Bearer ${key()}`, accept: "text/event-stream" };
  if (after) headers["last-event-id"] = after;
  const answer = await fetch(path, { headers, signal });
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  tell("open");
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) told(block, tell);
  }
}

function told(block, tell) {
  const fields = { event: "message", data: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 1).trimStart();
  }
  if (fields.data) tell(fields.event, JSON.parse(fields.data), fields.id);
}
