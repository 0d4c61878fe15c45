// Requests to this server: errors in its own words, patience while it loads or is busy, answers line by line.

const MOST_WAITS = 60;

export class Refusal extends Error {
  constructor(message, status, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const pause = (seconds, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, 1000 * seconds);
  signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
});

async function refusal(response) {
  let record = {};
  try { record = (await response.json()).error ?? {}; } catch { /* no JSON: the status must do */ }
  const message = record.message ?? `The server answered ${response.status} ${response.statusText}.`;
  return new Refusal(message, response.status, record.code);
}

// Like fetch, but throws a Refusal where the answer is an error; `onWait` gets the reason while it waits.
export async function request(url, options = {}, onWait = null) {
  for (let waits = 0; ; waits += 1) {
    let response;
    try {
      response = await fetch(url, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refusal("The server cannot be reached. Is it still running?", 0, "unreachable");
    }
    if (response.ok) return response;
    const error = await refusal(response);
    const busy = response.status === 429 || response.status === 503;
    if (!busy || !onWait || waits >= MOST_WAITS) throw error;
    onWait(error.message);
    await pause(Math.min(5, Number(response.headers.get("retry-after")) || 1), options.signal);
  }
}

// The lines of an answer, each read as JSON, as they come.
export async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) if (part.trim()) yield JSON.parse(part);
  }
  if (rest.trim()) yield JSON.parse(rest);
}

export const form = (fields) => ({ method: "POST", body: new URLSearchParams(fields) });

export { pause };
