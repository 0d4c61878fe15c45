// The text and its verdicts. The server renders every row, card and document; this puts them in their place.
import { form, lines, pause, request } from "./stream.js";
import { upload, watchDrops } from "./upload.js";

const byId = (id) => document.getElementById(id);
const [composer, text, corpus, outcome] = ["composer", "text", "corpus", "outcome"].map(byId);
const narrow = matchMedia("(max-width: 60rem)");
const documents = new Map();
const INDEXING_SECONDS = 1;
let running = null;
let touched = false;
let shown = Promise.resolve(); // kept once the document of the selected card is shown

// ---- messages ----

function complain(title, words) {
  const box = document.createElement("div");
  const strong = document.createElement("strong");
  box.className = "message";
  strong.textContent = title;
  box.append(strong, ` ${words}`);
  byId("message").replaceChildren(box);
}

const say = (words) => { byId("status").textContent = words; };

// Why the answer takes long, while the server loads or is busy.
function wait(words) {
  const box = document.createElement("div");
  box.className = "message waiting";
  box.textContent = words;
  if (byId("message").textContent !== words) byId("message").replaceChildren(box);
}

// ---- checking ----

function showResult() {
  document.body.classList.add("has-result");
  byId("empty").hidden = true;
}

// "checking", then "finished" or "stopped"; finished is when the last verdict and the document beside it are shown.
const mark = (state) => { outcome.dataset.state = state; };

async function finish() {
  await shown;
  if (!running) mark("finished");
}

async function check({ push = true } = {}) {
  if (!text.value.trim()) { text.focus(); return; }
  running?.abort();
  const controller = running = new AbortController();
  const isCurrent = () => running === controller;
  const button = byId("submit");
  byId("message").replaceChildren();
  byId("upload").hidden = true;
  button.disabled = true;
  button.textContent = "Checking …";
  touched = false;
  say("Checking.");
  mark("checking");
  let last = null;
  try {
    const fields = { text: text.value, corpus: corpus.value };
    const response = await request("/page/check", { ...form(fields), signal: controller.signal }, wait);
    byId("message").replaceChildren();
    for await (const event of lines(response)) {
      if (!isCurrent()) return; // lines that were read before a newer check began
      take(event, push);
      last = event.kind;
    }
    if (!["end", "error"].includes(last)) complain("The check stopped.", "The answer of the server is not complete.");
  } catch (error) {
    if (error.name !== "AbortError") complain(error.code === "unreachable" ? "No answer." : "This could not be checked.", error.message);
  } finally {
    if (isCurrent()) {
      running = null;
      button.disabled = false;
      button.textContent = "Check";
      byId("running")?.remove();
      if (last === "end") finish();
      else stop();
    }
  }
}

// What still waits when a check ends early was not checked.
function stop() {
  mark("stopped");
  say("The check stopped.");
  for (const row of outcome.querySelectorAll(".row.checking")) {
    const badge = row.querySelector(".badge");
    for (const element of [row, badge]) element.classList.replace("checking", "not-checked");
    badge.querySelector("use").setAttribute("href", "#i-not-checked");
    badge.querySelector("span").textContent = "not checked";
  }
}

const TAKERS = {
  outline(event, push) {
    outcome.innerHTML = event.html;
    showResult();
    scrollTo({ top: 0 });
    const link = byId("permalink").getAttribute("href");
    if (push && link !== location.pathname + location.search + location.hash) history.pushState(null, "", link);
  },
  sentence(event) {
    byId("running")?.querySelector("progress").setAttribute("value", event.checked);
    setCounts(event.counts);
    if (!event.card) return;
    byId("no-card")?.remove();
    byId(`s${event.number}`).outerHTML = event.row;
    outcome.querySelector(".cards").insertAdjacentHTML("beforeend", event.card);
    if (!current()) select(byId(`s${event.number}`));
  },
  end(event) {
    setCounts(event.counts);
    const waiting = byId("no-card");
    if (waiting) waiting.textContent = event.nothing;
    if (!touched) selectFirstProblem();
    say(`Done. ${event.summary}.`);
  },
  error(event) { complain("The check stopped.", event.error.message); },
};

function take(event, push) { TAKERS[event.kind]?.(event, push); }

// ---- counts: pressing one shows only its sentences ----

function setCounts(html) {
  const list = byId("counts");
  const pressed = list.querySelector("[aria-pressed=true]")?.dataset.state;
  list.innerHTML = html;
  upgradeCounts(pressed);
}

function upgradeCounts(pressed) {
  for (const span of byId("counts")?.querySelectorAll("span.count") ?? []) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = span.className;
    button.dataset.state = span.dataset.state;
    button.setAttribute("aria-pressed", String(span.dataset.state === pressed));
    button.append(...span.childNodes);
    span.replaceWith(button);
  }
  filterRows(pressed);
}

function filterRows(state) {
  byId("result").classList.toggle("filtering", Boolean(state));
  for (const row of outcome.querySelectorAll(".row")) row.classList.toggle("match", row.classList.contains(state));
}

// ---- selection ----

const current = () => outcome.querySelector(".card.current");
const rows = () => [...outcome.querySelectorAll("a.row")];
const cardOf = (row) => byId(`e${row.id.slice(1)}`);

function select(row) {
  if (!row) return;
  for (const other of outcome.querySelectorAll(".row[aria-current]")) other.removeAttribute("aria-current");
  current()?.classList.remove("current");
  const card = cardOf(row);
  row.setAttribute("aria-current", "true");
  card.classList.add("current");
  const box = card.querySelector(".document");
  const tabs = [...card.querySelectorAll("a.tab")];
  if (tabs.length && !card.querySelector(".tab[aria-current]")) shown = open(leadingTab(card) ?? tabs[0], box.childElementCount > 0);
  else centre(box);
}

// Of a sentence with several statements, the evidence of the one that decided.
function leadingTab(card) {
  const state = [...card.classList].find((name) => name !== "card" && name !== "current");
  const part = [...card.querySelectorAll(".part")].find((one) => one.querySelector(`.statement .badge.${state}`));
  return part?.querySelector("a.tab");
}

function selectFirstProblem() {
  const problem = rows().find((row) => row.classList.contains("refutes"))
    ?? rows().find((row) => !row.classList.contains("supports")) ?? rows()[0];
  if (problem) select(problem);
}

function step(direction, wanted = () => true) {
  const all = rows();
  const at = all.findIndex((row) => row.getAttribute("aria-current") === "true");
  for (let turn = 1; turn <= all.length; turn += 1) {
    const row = all[(at + direction * turn + all.length * 2) % all.length];
    if (!wanted(row)) continue;
    touched = true;
    select(row);
    row.focus();
    return;
  }
}

// ---- documents ----

function centre(box) {
  const body = box.querySelector(".document-body");
  const lit = body?.querySelector(".lit");
  if (lit) body.scrollTop = lit.offsetTop - Math.max(0, (body.clientHeight - lit.offsetHeight) / 2);
}

async function open(tab, isShown = false) {
  const card = tab.closest(".card");
  const box = card.querySelector(".document");
  for (const other of card.querySelectorAll(".tab[aria-current]")) other.removeAttribute("aria-current");
  tab.setAttribute("aria-current", "true");
  if (isShown) { centre(box); return; }
  const href = tab.getAttribute("href");
  try {
    if (!documents.has(href)) documents.set(href, (await request(`${href}&fragment=true`)).text());
    const html = await documents.get(href);
    if (tab.getAttribute("aria-current") !== "true") return;
    box.innerHTML = html;
    centre(box);
  } catch (error) {
    documents.delete(href);
    const note = document.createElement("p");
    note.className = "spinner";
    note.textContent = `The document cannot be shown. ${error.message}`;
    box.replaceChildren(note);
  }
}

function stepEvidence(direction) {
  const tabs = [...(current()?.querySelectorAll("a.tab") ?? [])];
  const at = tabs.findIndex((tab) => tab.getAttribute("aria-current") === "true");
  if (tabs.length) open(tabs[(at + direction + tabs.length) % tabs.length]);
}

// ---- what if a sentence were missing ----

async function leaveOneOut(element) {
  const box = element.parentElement.querySelector(".left-out");
  const button = element.querySelector("button");
  button.disabled = true;
  try {
    const response = await request(element.action, form(new FormData(element)), say);
    box.innerHTML = await response.text();
    element.hidden = true;
  } catch (error) {
    box.textContent = error.message;
    button.disabled = false;
  }
}

// ---- documents of one's own ----

async function addDocuments(files) {
  const box = byId("upload");
  const words = document.createElement("p");
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", "Documents added");
  box.replaceChildren(words, bar);
  box.hidden = false;
  try {
    const { record, refused } = await upload(files, byId("files").accept.split(","), (message, done, total) => {
      words.textContent = `${message} …`;
      bar.max = total || 1;
      bar.value = done;
    });
    const count = record.documents === 1 ? "1 document" : `${record.documents.toLocaleString("en")} documents`;
    for (const option of [...corpus.options]) if (!option.value) option.remove();
    corpus.add(new Option(`${record.name} (${count})`, record.name, true, true));
    const size = record.sentences === 1 ? "1 sentence" : `${record.sentences.toLocaleString("en")} sentences`;
    words.textContent = `${count} ready, ${size}. Type a claim about what they say.`;
    bar.remove();
    if (refused.length) {
      const list = document.createElement("ul");
      list.append(...refused.map((one) => Object.assign(document.createElement("li"), { textContent: one })));
      box.append("Left out:", list);
    }
    byId("empty").querySelector(".examples")?.remove();
    text.focus();
  } catch (error) {
    box.hidden = true;
    complain("The documents were not added.", error.message);
  }
}

// While the documents are indexed, the page has no examples: it asks until there are some.
async function watchIndexing() {
  while (byId("indexing")) {
    await pause(INDEXING_SECONDS);
    let fresh;
    try {
      const response = await request(`/?${new URLSearchParams({ corpus: corpus.value })}`);
      fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    } catch { return; }
    if (fresh.getElementById("indexing")) continue;
    byId("empty").replaceChildren(...fresh.getElementById("empty").children);
    corpus.replaceChildren(...fresh.getElementById("corpus").children);
  }
}

// ---- events ----

composer.addEventListener("submit", (event) => { event.preventDefault(); check(); });
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); check(); }
});
byId("files")?.addEventListener("change", (event) => {
  const files = [...event.target.files];
  event.target.value = "";
  if (files.length) addDocuments(files);
});
watchDrops(composer, addDocuments);

byId("empty").addEventListener("click", (event) => {
  const example = event.target.closest("a.example");
  if (!example || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  text.value = example.dataset.text;
  check();
});

outcome.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest("a.row, a.tab, .card-line a, #permalink, button.count");
  if (!link) return;
  if (link.id === "permalink") return copyLink(event, link);
  event.preventDefault();
  touched = true;
  if (link.matches(".row")) {
    select(link);
    const card = cardOf(link);
    if (narrow.matches) card.scrollIntoView();
    if (event.detail === 0 || narrow.matches) card.focus({ preventScroll: true });
  } else if (link.matches(".tab")) {
    open(link);
  } else if (link.matches(".count")) {
    const pressed = link.getAttribute("aria-pressed") !== "true" ? link.dataset.state : undefined;
    for (const other of byId("counts").querySelectorAll("button")) {
      other.setAttribute("aria-pressed", String(other.dataset.state === pressed));
    }
    filterRows(pressed);
    if (pressed) select(rows().find((row) => row.classList.contains(pressed)));
  } else {
    const row = byId(link.getAttribute("href").slice(1));
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  }
});

function copyLink(event, link) {
  if (!navigator.clipboard) return;
  event.preventDefault();
  navigator.clipboard.writeText(link.href).then(
    () => {
      link.firstChild.textContent = "Copied";
      say("The link is copied.");
      setTimeout(() => { link.firstChild.textContent = "Copy link"; }, 2000);
    },
    () => { location.href = link.href; },
  );
}

outcome.addEventListener("submit", (event) => {
  if (!event.target.matches(".leave-out")) return;
  event.preventDefault();
  leaveOneOut(event.target);
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !rows().length) return;
  const problem = (row) => !row.classList.contains("supports");
  const inRows = Boolean(event.target.closest("a.row"));
  const actions = {
    n: () => step(1, problem),
    p: () => step(-1, problem),
    "]": () => stepEvidence(1),
    "[": () => stepEvidence(-1),
    ...(inRows ? { ArrowDown: () => step(1), ArrowUp: () => step(-1) } : {}),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});

addEventListener("popstate", () => location.reload());

// A text too long for an address of the server travels behind the "#".
if (location.hash.startsWith("#text=")) {
  text.value = decodeURIComponent(location.hash.slice("#text=".length));
  check({ push: false });
} else if (byId("result")) {
  upgradeCounts();
  selectFirstProblem();
  finish();
}
watchIndexing();
