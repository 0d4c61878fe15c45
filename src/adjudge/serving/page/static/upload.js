// Documents of the reader's own: chosen or dropped, sent one by one into a new corpus, and watched until indexed.
import { pause, request } from "./stream.js";

const MOST_FILES = 1000;
const MOST_NAMES = 50;
const POLL_SECONDS = 0.4;

function corpusName(files) {
  const stem = files[0].name.replace(/\.[^.]+$/, "").replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[-_]+|[-_]+$/g, "");
  return (stem || "documents").slice(0, 56);
}

async function create(base) {
  for (let turn = 1; turn <= MOST_NAMES; turn += 1) {
    const name = turn === 1 ? base : `${base}-${turn}`;
    try {
      const headers = { "content-type": "application/json" };
      await request("/v1/corpora", { method: "POST", headers, body: JSON.stringify({ name }) });
      return name;
    } catch (error) {
      if (error.status !== 409) throw error;
    }
  }
  throw new Error(`There are already ${MOST_NAMES} corpora called ${base}.`);
}

// Sends the files whose names end in one of `suffixes`; `report` gets (words, done, total). Gives the corpus's record and
// the files that were left out.
export async function upload(all, suffixes, report) {
  if (!all.length) throw new Error("Those are folders. Drop the files themselves.");
  const readable = (file) => suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix));
  const files = all.filter(readable);
  const refused = all.filter((file) => !readable(file)).map((file) => `${file.name}: this type of file cannot be read.`);
  if (!files.length) throw new Error(`${refused.join(" ")} Those that can be read end in ${suffixes.join(" ")}.`);
  if (files.length > MOST_FILES) throw new Error(`${files.length} files; at most ${MOST_FILES} can be added at once.`);
  const name = await create(corpusName(files));
  let sent = 0;
  for (const [number, file] of files.entries()) {
    report(`Sending ${file.name}`, number, files.length);
    try {
      const url = `/v1/corpora/${encodeURIComponent(name)}/documents/${encodeURIComponent(file.name)}`;
      const headers = { "content-type": "application/octet-stream" };
      await request(url, { method: "PUT", headers, body: file }, () => report("Waiting for the server", number, files.length));
      sent += 1;
    } catch (error) {
      refused.push(`${file.name}: ${error.message}`);
    }
  }
  if (!sent) {
    await request(`/v1/corpora/${encodeURIComponent(name)}`, { method: "DELETE" });
    throw new Error(refused.join(" "));
  }
  try {
    const record = await indexed(name, report);
    const all = [...refused, ...record.problems];
    if (!record.sentences) throw new Error(["There is no sentence in them.", ...all].join(" "));
    return { record, refused: all };
  } catch (error) {
    await request(`/v1/corpora/${encodeURIComponent(name)}`, { method: "DELETE" });
    throw error;
  }
}

async function indexed(name, report) {
  for (;;) {
    const record = await (await request(`/v1/corpora/${encodeURIComponent(name)}`)).json();
    if (record.state === "failed") throw new Error(record.problem ?? "The documents cannot be indexed.");
    if (record.state === "ready" && (record.documents > 0 || record.problems.length)) return record;
    const progress = record.progress;
    if (progress?.to_embed) report("Reading for meaning", progress.embedded, progress.to_embed);
    else report("Indexing", progress?.files ?? 0, progress?.files_total || 1);
    await pause(POLL_SECONDS);
  }
}

// Calls `take` with the files that are dropped anywhere; `zone` shows where they go.
export function watchDrops(zone, take) {
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  let depth = 0;
  const light = (on) => zone.classList.toggle("over", on);
  document.addEventListener("dragenter", (event) => { if (hasFiles(event)) { depth += 1; light(true); } });
  document.addEventListener("dragleave", (event) => { if (hasFiles(event)) { depth -= 1; light(depth > 0); } });
  document.addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    light(false);
    take([...event.dataTransfer.files].filter((file) => file.size > 0 || file.type));
  });
}
