// Many claims: a table read from a file, checked as it streams in, sorted, filtered and taken away.
import { lines, request } from "./stream.js";
import { claimColumn, download, readTable, toDelimited } from "./table.js";
import { watchDrops } from "./upload.js";

const byId = (id) => document.getElementById(id);
const PAGE = 100;
const WORDS = {
  SUPPORTS: ["supports", "supported"],
  REFUTES: ["refutes", "refuted"],
  "NOT ENOUGH INFO": ["not-enough-info", "not enough info"],
  "NO EVIDENCE FOUND": ["no-evidence-found", "no evidence found"],
  "NOT CHECKED": ["not-checked", "not checked"],
  ERROR: ["error", "error"],
};
const STATES = Object.keys(WORDS);
const most = Number(byId("table").dataset.most);

let table = null;
let results = [];
let total = 0;
let shown = PAGE;
let order = { key: null, direction: 1 };
let state = null;
let running = null;
let drawing = false;

// ---- messages ----

function complain(words) {
  const box = document.createElement("div");
  box.className = "message";
  box.textContent = words;
  byId("message").replaceChildren(...(words ? [box] : []));
}

// ---- reading ----

async function read(file) {
  complain("");
  try {
    table = { name: file.name, ...readTable(file.name, await file.text()) };
  } catch (error) {
    complain(`${file.name} cannot be read. ${error.message}`);
    return;
  }
  const count = table.records.length;
  if (!count) { complain(`${file.name} holds no claims.`); return; }
  if (count > most) {
    complain(`${file.name} holds ${count.toLocaleString("en")} claims; at most ${most.toLocaleString("en")} are checked at once. Split the file.`);
    return;
  }
  const guess = claimColumn(table.columns);
  const column = byId("column");
  column.replaceChildren(...table.columns.map((name) => new Option(name, name, name === guess, name === guess)));
  byId("column-field").hidden = table.columns.length < 2;
  byId("start").hidden = false;
  byId("start").textContent = `Check ${count.toLocaleString("en")} claim${count === 1 ? "" : "s"}`;
  byId("file-name").textContent = `${file.name}: ${count.toLocaleString("en")} row${count === 1 ? "" : "s"}`;
  if (!guess) complain("No column is called “claim”. Choose the column that holds the claims.");
  byId("start").focus();
}

const text = (value) => (value === null || value === undefined ? "" : String(value));

function claims() {
  const column = byId("column").value;
  const ids = table.columns.find((name) => /^id$/i.test(name));
  return table.records
    .map((record, at) => ({ id: ids && text(record[ids]) ? record[ids] : at + 1, claim: text(record[column]).trim() }))
    .filter((record) => record.claim);
}

// ---- checking ----

async function start() {
  const all = claims();
  if (!all.length) { complain("That column is empty in every row."); return; }
  complain("");
  results = [];
  total = all.length;
  shown = PAGE;
  state = null;
  byId("table").hidden = false;
  byId("start").hidden = true;
  byId("stop").hidden = false;
  document.body.classList.add("has-result");
  const controller = running = new AbortController();
  draw();
  try {
    const body = all.map((one) => JSON.stringify({ id: typeof one.id === "number" ? one.id : String(one.id), claim: one.claim })).join("\n");
    const url = `/page/claims?corpus=${encodeURIComponent(byId("corpus").value)}`;
    const headers = { "content-type": "application/x-ndjson" };
    const wait = (words) => { byId("progress-text").textContent = words; };
    const response = await request(url, { method: "POST", headers, body, signal: controller.signal }, wait);
    for await (const record of lines(response)) {
      if (record.kind === "error") throw new Error(record.error.message);
      const unsure = Boolean(record.reason && record.probabilities); // its probability is that of another answer
      const best = record.evidence?.text ?? record.reason ?? "";
      results.push({ at: results.length, best, unsure, share: unsure ? -1 : record.probability ?? -1, ...record });
      soon();
    }
    if (results.length < total) throw new Error("The answer of the server is not complete.");
  } catch (error) {
    if (error.name !== "AbortError") complain(`The check stopped. ${error.message}`);
  } finally {
    running = null;
    byId("stop").hidden = true;
    byId("start").hidden = false;
    byId("start").textContent = "Check again";
    draw();
  }
}

// ---- drawing ----

function soon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => { drawing = false; draw(); });
}

function compare(one, other) {
  const [a, b] = [one, other].map((record) => (order.key === "state" ? STATES.indexOf(record.state) : record[order.key]));
  const numbers = typeof a === "number" && typeof b === "number";
  const result = numbers ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  return order.direction * result || one.at - other.at;
}

function view() {
  const words = byId("filter").value.trim().toLowerCase();
  const matches = (record) => (!state || record.state === state)
    && (!words || `${record.id} ${record.claim} ${record.best}`.toLowerCase().includes(words));
  const kept = results.filter(matches);
  return order.key ? kept.sort(compare) : kept;
}

function draw() {
  const kept = view();
  const done = results.length;
  byId("progress").max = total;
  byId("progress").value = done;
  byId("progress").hidden = !running;
  byId("progress-text").textContent = running
    ? `${done.toLocaleString("en")} of ${total.toLocaleString("en")} claims`
    : `${done.toLocaleString("en")} claim${done === 1 ? "" : "s"}`;
  byId("rows").replaceChildren(...kept.slice(0, shown).map(row));
  byId("nothing").hidden = kept.length > 0 || Boolean(running);
  byId("more").hidden = kept.length <= shown;
  drawCounts();
}

function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function icon(slug) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${slug}`);
  svg.append(use);
  return svg;
}

function row(record) {
  const [slug, words] = WORDS[record.state];
  const link = make("a", "", record.claim);
  link.href = `/?${new URLSearchParams({ text: record.claim, corpus: byId("corpus").value })}`;
  const share = record.share >= 0 ? `${Math.round(100 * record.share)}%` : "–";
  const [likeliest] = Object.entries(record.probabilities ?? {}).sort(([, one], [, other]) => other - one);
  const doubt = record.unsure
    ? make("p", "note", `Too unsure to decide: “${WORDS[likeliest[0]]?.[1] ?? likeliest[0]}” is likeliest, at ${Math.round(100 * likeliest[1])}%.`)
    : "";
  const place = record.evidence ? make("span", "note", ` ${record.evidence.document}`) : "";
  return make("tr", "",
    make("td", "id", text(record.id)),
    make("td", "claim", link),
    make("td", "state", make("span", `badge pill ${slug}`, icon(slug), words)),
    make("td", "share", share),
    make("td", "best", record.best, place, doubt));
}

function drawCounts() {
  const present = STATES.map((name) => [name, results.filter((record) => record.state === name).length]).filter(([, count]) => count);
  const list = byId("counts");
  const known = [...list.querySelectorAll("button")];
  if (known.map((button) => button.dataset.state).join() !== present.map(([name]) => name).join()) {
    list.replaceChildren(...present.map(([name]) => {
      const [slug, words] = WORDS[name];
      const button = make("button", `count ${slug}`, icon(slug), make("b", ""), words);
      button.type = "button";
      button.dataset.state = name;
      return make("li", "", button);
    }));
  }
  present.forEach(([name, count], at) => {
    const button = list.querySelectorAll("button")[at];
    button.querySelector("b").textContent = count.toLocaleString("en");
    button.setAttribute("aria-pressed", String(state === name));
  });
}

// ---- taking away ----

const HEAD = ["id", "claim", "verdict", "probability", "p supports", "p refutes", "p not enough info", "evidence", "document", "reason"];
const cells = (record) => [
  record.id, record.claim, record.state, record.probability,
  ...["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"].map((label) => record.probabilities?.[label]),
  record.evidence?.text, record.evidence?.document, record.reason,
];
const bare = ({ at, best, unsure, share, ...record }) => JSON.stringify(record);

// ---- events ----

byId("file").addEventListener("change", (event) => { const [file] = event.target.files; event.target.value = ""; if (file) read(file); });
watchDrops(byId("drop"), (files) => { if (files.length) read(files[0]); else complain("That is a folder. Drop a CSV or JSON Lines file."); });
byId("start").addEventListener("click", start);
byId("stop").addEventListener("click", () => running?.abort());
byId("filter").addEventListener("input", () => { shown = PAGE; draw(); });
byId("more").addEventListener("click", () => { shown += PAGE; draw(); });
byId("counts").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  state = state === button.dataset.state ? null : button.dataset.state;
  shown = PAGE;
  draw();
});
for (const head of document.querySelectorAll("th[data-key]")) {
  head.querySelector("button").addEventListener("click", () => {
    const { key } = head.dataset;
    order = { key, direction: order.key === key ? -order.direction : 1 };
    for (const other of document.querySelectorAll("th[data-key]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order.direction > 0 ? "ascending" : "descending");
    draw();
  });
}
byId("csv").addEventListener("click", () => download("verdicts.csv", "text/csv", toDelimited([HEAD, ...view().map(cells)])));
byId("jsonl").addEventListener("click", () => download("verdicts.jsonl", "application/x-ndjson", view().map((record) => `${bare(record)}\n`).join("")));
