// A page to correct trees. Heads and relations that are decided are sent with the sentence, and the server answers with
// the best tree around them. The server does not store texts that are opened here. It only reads and saves the file of
// `mh4 serve FILE`.
"use strict";

const byId = (id) => document.getElementById(id);
const UD =
  "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated " +
  "expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp";
const TREES = 5; // how many of the best trees to request as alternatives
const KEY = location.hash.slice(1); // to the file that the server reads and saves

// at: the sentence. current: the word that the keys act on. chosen: the word whose head is to be chosen, or 0.
let sentences = [], at = 0, current = 1, chosen = 0;
let name = "annotated.conllu", version = ""; // of the file
let opening = 0; // how many texts have been opened
const sentence = () => sentences[at];
const relations = new Set(UD.split(" ")), unable = new Set(); // unable: models without probabilities
const say = (text) => (byId("status").textContent = text);

// ----------------------------------------------------------------------------------------------------------- server

async function asked(address, options) {
  const response = await fetch(address, options).catch((error) => {
    throw error.name === "AbortError" ? error : new Error("The server does not answer.");
  });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

// Return the result of a request to /process. Throws an Error with the server's message.
async function process({ model = byId("model").value, ...parameters }, signal) {
  const confidence = !unable.has(model);
  const body = JSON.stringify({ model, parser: true, confidence, ...parameters });
  try {
    const response = await asked("process", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
    return (await response.json()).result;
  } catch (error) {
    if (!confidence || !error.message.includes("gives no probabilities")) throw error;
    unable.add(model);
    return process({ model, ...parameters }, signal);
  }
}

// Return the trees in an answer, each with the comment on how it was found. Throws an Error if no tree is possible.
function treesIn(result) {
  return read(result, false).map(({ lines, rows }) => {
    const note = lines.map((line) => line.match(/^# mh4 = (.*)$/)?.[1]).find(Boolean) ?? "";
    if (note.startsWith("skipped, ")) throw new Error(`This is not possible: ${note.slice("skipped, ".length)}.`);
    const number = (cells, name) => Number(cells[MISC].match(`(?:^|\\|)${name}=([\\d.]+)`)?.[1] ?? NaN);
    const tree = rows.map((cells) => cells && {
      head: Number(cells[HEAD]), deprel: cells[DEPREL], probability: number(cells, "ArcProb"), ofLabel: number(cells, "LabelProb"),
    });
    return { tree, note };
  });
}

// ----------------------------------------------------------------------------------------------------------- states

// The state of a sentence is what is decided (`pins`), and the server's answer to exactly this. A state has settled
// once it has an `answer`, a tree. It waits while it has a request, `asking`. It is impossible if it has an error
// message, `trouble`, instead. Only settled trees can be accepted, and only they are written. around: the heads and
// relations in the request; for an accepted tree, all of them. model: the model that was asked.
const undecided = { accepted: false, answer: null, asking: null, model: "", trouble: "", others: null };
const state = (pins, around = pins, accepted = false) => ({ ...undecided, pins, around, accepted });
const isOfAnother = (now) => now.model !== byId("model").value; // whether it is of another model than the chosen one

// Request a tree for the state of a sentence, unless it has settled. An answer belongs to the state in which it was
// requested: a late answer does not change a later state.
function settle(one) {
  if (isOfAnother(one.now) && !one.now.accepted) one.now = state(one.now.pins); // accepted trees stay, as decisions do
  const { now } = one;
  if (now.answer) one.settled = now;
  if (now.answer || now.asking) return;
  one.request?.abort(); // a request for an earlier state is of no use now
  one.request = new AbortController();
  [now.model, now.trouble] = [byId("model").value, ""];
  const data = written(one, now.around), { signal } = one.request;
  now.asking = process({ data, input: "conllu", heads: true }, signal).then((result) => {
    [now.answer] = treesIn(result);
    now.answer.tree.forEach((arc) => arc && relations.add(arc.deprel));
    if (one.now === now) one.settled = now;
  }).catch((error) => {
    if (!signal.aborted) now.trouble = error.message.replace(/^data, line \d+, sentence 1(?: \(.*?\))?: /, "");
  }).then(() => {
    now.asking = null;
    if (one.now !== now) return;
    if (signal.aborted && (one === sentence() || one.past.length)) settle(one); // undo or a turn has returned to this state
    if (one === sentence()) draw();
  });
}

// Put the sentence into another state, which can be undone.
function change(now) {
  const one = sentence();
  one.past.push(one.now);
  one.future = [];
  enter(one, now);
}

function enter(one, now) {
  one.now = now;
  chosen = 0;
  settle(one);
  draw();
}

function travel(from, to) {
  const one = sentence();
  if (!one[from].length) return;
  one[to].push(one.now);
  enter(one, one[from].pop());
}

// --------------------------------------------------------------------------------------------------------- deciding

// The tree to draw: the last one, unless it is of another model than the one that was asked now.
const lastTree = ({ now, settled }) => [now, settled].find((each) => each?.answer && each.model === now.model)?.answer.tree;

// The known parts of the arc to a word: what is decided, and otherwise what the last tree has.
function arc(m) {
  const pin = sentence().now.around[m], last = lastTree(sentence())?.[m];
  return "head" in pin && last?.head !== pin.head ? pin : { ...last, ...pin };
}

const pinned = (m, pin) => sentence().now.pins.map((each, k) => (k === m ? pin : each));

// Decide the head of a word. If another head was decided before, the relation is open again.
function attach(m, head) {
  const pin = sentence().now.pins[m];
  current = m;
  change(state(pinned(m, "head" in pin && pin.head !== head ? { head } : { ...pin, head })));
}

function relate() {
  const deprel = byId("relation").value.trim().replaceAll(/[\s\0\x85]+/g, "_"), { head } = arc(current);
  if (!deprel || deprel === "_") return say("A relation has to have a name.");
  relations.add(deprel);
  change(state(pinned(current, { ...(head !== undefined && { head }), deprel })));
  focusOn(current);
}

function unpin() {
  if (Object.keys(sentence().now.pins[current]).length) change(state(pinned(current, {})));
}

function accept() {
  const { now } = sentence();
  if (!now.answer && !now.accepted) return say(now.trouble || "The tree has not settled yet.");
  change({ ...now, accepted: !now.accepted, asking: null }); // its answer belongs to the earlier state
}

function choose(m) {
  if (chosen && m !== chosen) return attach(chosen, m);
  chosen = chosen || !m ? 0 : m;
  current = m || current;
  draw();
}

// Show the next best trees around what is decided. Choosing a tree decides its heads where better trees differ from it,
// so that it becomes the best tree.
async function others() {
  const one = sentence(), { now } = one, isShown = () => one === sentence() && one.now === now && !isOfAnother(now);
  if (!now.answer) return say(now.trouble || "The tree has not settled yet.");
  if (isOfAnother(now)) return say(`This tree is by the model ${now.model}: choose it to see alternatives.`);
  if (now.others?.length) return byId("others").querySelector("button").focus(); // already shown, as after undo
  try {
    const found = treesIn(await process({ data: written(one, now.around), input: "conllu", heads: true, best: String(TREES) }));
    now.others = found.slice(1).map(({ tree }, k) => {
      const differs = (m) => found.slice(0, k + 1).some((better) => better.tree[m].head !== tree[m].head);
      const pins = now.pins.map((pin, m) => (m && differs(m) ? { ...pin, head: tree[m].head } : pin));
      return { tree, pins };
    });
    if (!isShown()) return;
    draw();
    const why = /^(tree |$)/.test(found[0].note) ? "" : `: ${found[0].note}`;
    const busy = chosen || document.activeElement === byId("relation");
    if (!busy) byId("others").querySelector("button")?.focus();
    if (!now.others.length) say(`There is no other tree${why}.`);
  } catch (error) {
    if (isShown()) say(error.message);
  }
}

function turn(by) {
  if (!sentences[at + by]) return;
  if (!sentence().past.length) sentence().request?.abort(); // it is asked for again when the sentence is shown
  [at, current, chosen] = [at + by, 1, 0];
  settle(sentence());
  draw();
  focusOn(current);
}

// ---------------------------------------------------------------------------------------------------------- drawing

const focusOn = (m) => document.querySelector(`[data-word="${m}"]`)?.focus();

function draw() {
  const one = sentence(), { now, rows } = one, focused = document.activeElement?.closest(".words button, #others");
  byId("text").textContent = rows.slice(1).map((cells) => cells[FORM]).join(" ");
  byId("tree").dir = getComputedStyle(byId("text")).direction; // the direction of its first letter
  const buttons = drawTree(byId("tree"), rows, rows.map((cells, m) => cells && arc(m)), now.pins, current, chosen);
  byId("tree").setAttribute("aria-busy", !now.answer && !now.trouble);
  byId("others").replaceChildren(...(isOfAnother(now) ? [] : now.others ?? []).map(alternative));
  if (focused) buttons[(chosen && focused.dataset.word) || current].focus(); // while a head is chosen, the focus stays
  byId("place").textContent = `${at + 1} of ${sentences.length}, ${sentences.filter((each) => each.now.accepted).length} accepted`;
  const off = { previous: at === 0, next: at === sentences.length - 1, undo: !one.past.length, redo: !one.future.length };
  Object.assign(off, { accept: !now.answer && !now.accepted, best: !now.answer || isOfAnother(now) });
  for (const [id, disabled] of Object.entries(off)) byId(id).disabled = disabled;
  byId("accept").setAttribute("aria-pressed", now.accepted);
  byId("relations").replaceChildren(...[...relations].sort().map((value) => element("option", { value })));
  const how = now.answer?.note ? `Decoded by ${now.answer.note}.` : "";
  say(chosen ? `Choose the head of ${rows[chosen][FORM]}.` : now.trouble || (lastTree(one) ? how : "Parsing …"));
  look();
}

function alternative({ tree, pins }) {
  const { rows, now } = sentence(), word = (m) => (m ? `\u2068${rows[m][FORM]}\u2069` : "root"); // isolated: the arrow points left
  const moved = tree.flatMap((arc, m) => {
    if (!m || arc.head === now.answer.tree[m].head) return [];
    return [`${word(m)} ← ${word(arc.head)}, ${arc.deprel}${arc.probability >= 0 ? ` (${arc.probability.toFixed(2)})` : ""}`];
  });
  const button = element("button", { type: "button" }, moved.join("; "));
  button.addEventListener("click", () => change(state(pins)));
  return element("li", {}, button);
}

// Show the relation and the pins of the current word.
function look() {
  byId("whose").textContent = `Relation of ${sentence().rows[current][FORM]}`;
  if (document.activeElement !== byId("relation")) byId("relation").value = arc(current).deprel ?? ""; // it may be typed in
  byId("unpin").disabled = !Object.keys(sentence().now.pins[current]).length;
}

// ------------------------------------------------------------------------------------------------ opening and saving

// The decisions in a state, as a string. A sentence stores those when it was `opened` and last `saved` or downloaded.
const decisions = ({ pins, accepted }) => JSON.stringify([pins, accepted]);
const isUnsaved = () => sentences.some((one) => decisions(one.now) !== one.saved);

// Open a text in place of the present one. called: the name of the file to download.
async function open(text, input, keep, called) {
  const number = ++opening;
  say("Parsing …");
  try {
    const words = { data: text, input, parser: false, confidence: false }; // trees come later, for one sentence at a time
    const found = read(input === "conllu" ? text : await process(words), keep && input === "conllu");
    if (number !== opening) return;
    if (isUnsaved() && !confirm("There are decisions that were not downloaded or saved. Drop them?")) return draw();
    const begun = ({ pins, given, accepted }) => ({ past: [], future: [], now: state(pins, accepted ? given : pins, accepted) });
    sentences = found.map((one) => ({ ...one, ...begun(one) }));
    for (const one of sentences) one.opened = one.saved = decisions(one.now);
    [at, name] = [0, called];
    byId("main").hidden = false;
    turn(0);
  } catch (error) {
    if (number === opening) say(error.message);
  }
}

// The text of a sentence in its last settled state. It is the opened text if the decisions are the same as then, and
// has no tree if nothing is decided any more.
function asSettled(one) {
  if (!one.past.length || !one.settled || decisions(one.settled) === one.opened) return unchanged(one);
  const { answer, pins, accepted } = one.settled, isDecided = accepted || pins.some((pin) => pin && Object.keys(pin).length);
  return written(one, isDecided ? answer.tree : one.rows.map(() => ({})), pins, accepted);
}

// Call `write` with the text of all sentences in their last settled states.
async function keep(write) {
  try {
    for (const one of sentences) if (one.past.length) settle(one); // again, where the server did not answer
    for (let one; (one = sentences.find(({ now }) => now.asking)); ) await one.now.asking;
    const until = sentences.map((one) => [one, decisions(one.now)]);
    const lost = sentences.flatMap((one, k) => (one.past.length && !(one.settled && decisions(one.settled) === decisions(one.now)) ? [k + 1] : []));
    await write(sentences.map(asSettled).join(""));
    if (!lost.length) for (const [one, saved] of until) one.saved = saved;
    say(lost.length ? `Without the last decisions in ${lost.join(", ")}, which have no tree.` : "All is saved.");
  } catch (error) {
    say(error.message);
  }
}

const download = () => keep((text) => {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
});

const ofFile = (options = {}, headers = {}) => asked("file", { ...options, headers: { Authorization: `Bearer ${KEY}`, ...headers } });

async function save() {
  byId("save").disabled = true; // until the new version is known, which the next save has to name
  await keep(async (body) => {
    const response = await ofFile({ method: "POST", body }, { "If-Match": version, "Content-Type": "text/plain; charset=utf-8" });
    version = response.headers.get("ETag");
  });
  byId("save").disabled = false;
}

// ------------------------------------------------------------------------------------------------------------ start

byId("tree").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) choose(Number(button.dataset.word));
});

byId("tree").addEventListener("focusin", (event) => {
  const m = Number(event.target.dataset.word);
  if (!m || chosen) return; // while a head is chosen, the word stays
  document.querySelector(`[data-word="${current}"]`).tabIndex = -1;
  event.target.tabIndex = 0;
  current = m;
  look();
});

byId("tree").addEventListener("keydown", (event) => {
  const m = Number(event.target.dataset.word), last = sentence().rows.length - 1;
  if (Number.isNaN(m) || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = (by) => Math.min(Math.max(m + (byId("tree").dir === "rtl" ? -by : by), 0), last);
  const to = { ArrowLeft: step(-1), ArrowRight: step(1), Home: 1, End: last }[event.key];
  if (to !== undefined) focusOn(to);
  else if (event.key === "0") attach(chosen || current, 0);
  else if (event.key === "r") byId("relation").focus(), byId("relation").select();
  else if (event.key === "Delete" || event.key === "Backspace") unpin();
  else if (event.key === "Escape") choose(chosen);
  else return;
  event.preventDefault();
});

const [undo, redo] = [() => travel("past", "future"), () => travel("future", "past")];
const keys = { a: accept, b: others, n: () => turn(1), p: () => turn(-1) };
const withControl = { z: undo, y: redo, s: () => byId(KEY ? "save" : "download").click() };

document.addEventListener("keydown", (event) => {
  const control = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
  const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName) && !(control && key === "s");
  const act = control ? (event.shiftKey && key === "z" ? redo : withControl[key]) : keys[key];
  if (byId("main").hidden || typing || event.altKey || !act) return;
  event.preventDefault();
  act();
});

for (const id of ["relation", "others"]) {
  byId(id).addEventListener("keydown", (event) => {
    if (event.key === "Enter" && id === "relation") relate();
    else if (event.key === "Escape") focusOn(current);
    else return;
    event.preventDefault(); // or the word that gets the focus would be clicked, too
  });
}

const actions = { previous: keys.p, next: keys.n, undo, redo, accept, best: others, download, save, set: relate, unpin };
for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);

byId("file").addEventListener("change", async () => {
  const [file] = byId("file").files;
  if (!file) return;
  byId("file").value = ""; // so that the same file can be opened again
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    await open(text, byId("input").value, byId("keep").checked, file.name.replace(/(\.conllu|\.txt)?$/, ".annotated.conllu"));
  } catch (error) {
    say(error instanceof TypeError ? `${file.name} is not UTF-8.` : `${file.name} cannot be read.`);
  }
});

byId("open").addEventListener("submit", (event) => {
  event.preventDefault();
  open(byId("data").value, byId("input").value, byId("keep").checked, "annotated.conllu");
});

byId("model").addEventListener("change", () => {
  if (!sentences.length) return;
  for (const one of sentences) if (one === sentence() || one.past.length) settle(one); // the others when they are shown
  draw();
});

window.addEventListener("beforeunload", (event) => isUnsaved() && event.preventDefault());
window.addEventListener("hashchange", () => location.reload()); // another key
window.addEventListener("resize", () => sentences.length && draw());

if (KEY) {
  for (const given of document.querySelectorAll(".given")) given.hidden = true;
  byId("save").hidden = false;
  ofFile().then(async (response) => {
    version = response.headers.get("ETag");
    await open(await response.text(), "conllu", true, "annotated.conllu");
  }).catch((error) => say(error.message));
}
