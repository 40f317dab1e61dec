// A page to correct trees on. What is decided, heads and relations, is sent with the sentence, and the server answers with the best tree
// around it. The file stays in the browser; the server keeps nothing.
"use strict";

const byId = (id) => document.getElementById(id);
const [ID, FORM, UPOS, HEAD, DEPREL, DEPS, MISC] = [0, 1, 3, 6, 7, 8, 9];
const MARKS = ["Pinned", "ArcProb"]; // attributes of MISC that are ours
const UD =
  "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated " +
  "expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp";
const UNSURE = 0.9; // arcs of a lower probability are dashed

let sentences = [], at = 0, current = 1, chosen = 0, asked = 0, name = "annotated.conllu", probable = true;
const sentence = () => sentences[at];
const relations = new Set(UD.split(" "));

function element(tag, attributes, ...children) {
  const drawn = tag === "svg" || tag === "path";
  const made = drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const say = (text) => (byId("status").textContent = text);

// ---------------------------------------------------------------------------------------------------------- CoNLL-U

// The sentences of a file: lines, and the rows of words, from 1. pins: what is decided of each word, { head, deprel }.
function read(text, keep) {
  const parts = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n").split(/\n[ \n]*\n/);
  const blocks = parts.map((part) => part.split("\n").filter((line) => line.trim()));
  return blocks.filter((lines) => lines.some((line) => /^\d+\t/.test(line))).map((lines) => {
    const rows = [null], at = [null], pins = [null];
    lines.forEach((line, k) => {
      const cells = line.split("\t");
      if (!/^\d+$/.test(cells[ID]) || cells.length !== 10) return;
      const mark = cells[MISC].match(/(?:^|\|)Pinned=([^|]*)/);
      const pinned = (column) => (mark ? mark[1].split(",").includes(column === HEAD ? "head" : "deprel") : keep) && cells[column] !== "_";
      pins.push({ ...(pinned(HEAD) && { head: Number(cells[HEAD]) }), ...(pinned(DEPREL) && { deprel: cells[DEPREL] }) });
      rows.push(cells);
      at.push(k);
    });
    const accepted = lines.some((line) => /^# *accepted *= *yes/.test(line));
    return { lines, rows, at, pins, accepted, past: [], future: [], tree: null };
  });
}

// A sentence in CoNLL-U, with these heads and relations, and with `marks`, what is decided. Another tree leaves out the enhanced graph.
function written(one, of, marks) {
  const lines = [...one.lines];
  const same = one.rows.every((cells, m) => !m || (cells[HEAD] === String(of(m).head) && cells[DEPREL] === of(m).deprel));
  one.rows.forEach((cells, m) => {
    if (!m) return;
    const row = [...cells], { head, deprel } = of(m), pin = one.pins[m];
    [row[HEAD], row[DEPREL]] = [String(head ?? "_"), deprel ?? "_"];
    if (!same) row[DEPS] = "_";
    const misc = row[MISC].split("|").filter((each) => each !== "_" && !MARKS.includes(each.split("=")[0]));
    const decided = Object.keys(pin).sort().reverse().join(",");
    if (marks && decided) misc.push(`Pinned=${decided}`);
    row[MISC] = misc.join("|") || "_";
    lines[one.at[m]] = row.join("\t");
  });
  const kept = lines.filter((line) => !/^# *(accepted|mh4) *=/.test(line) && (same || !/^\d+\.\d+\t/.test(line)));
  const comments = kept.filter((line) => line.startsWith("#"));
  if (marks && one.accepted) comments.push("# accepted = yes");
  return [...comments, ...kept.filter((line) => !line.startsWith("#"))].join("\n") + "\n\n";
}

function download() {
  const text = sentences.map((one) => (one.tree ? written(one, (m) => one.tree[m], true) : `${one.lines.join("\n")}\n\n`)).join("");
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

// ----------------------------------------------------------------------------------------------------------- server

// The result of a request to /process; an Error with the server's sentence.
async function process(parameters) {
  const asking = { model: byId("model").value, parser: true, ...(probable && { confidence: true }), ...parameters };
  const headers = { "Content-Type": "application/json" };
  const response = await fetch("process", { method: "POST", headers, body: JSON.stringify(asking) });
  if (response.ok) return (await response.json()).result;
  const said = (await response.text()).trim();
  if (!probable || !said.includes("gives no probabilities")) throw new Error(said);
  probable = false;
  return process(parameters);
}

// Asks for the best tree around what is decided, and draws it. If no tree has it, the last decision is taken back.
async function settle(before = "") {
  const one = sentence(), number = ++asked, start = performance.now();
  try {
    const result = await process({ data: written(one, (m) => one.pins[m], false), input: "conllu", heads: true });
    if (number !== asked) return;
    const [parsed] = read(result, false), note = result.match(/^# mh4 = (.*)$/m);
    if (note && note[1].startsWith("skipped")) {
      if (one.past.length) one.pins = one.past.pop().pins;
      else one.pins = one.pins.map((pin) => pin && {});
      const why = `This is not possible: ${note[1].replace("skipped, ", "")}.`;
      return one.tree ? [say(why), draw()] : settle(why);
    }
    one.tree = parsed.rows.map((cells) => cells && {
      head: Number(cells[HEAD]), deprel: cells[DEPREL], probability: Number(cells[MISC].match(/ArcProb=([\d.]+)/)?.[1] ?? NaN),
    });
    one.tree.forEach((arc) => arc && relations.add(arc.deprel));
    say(note ? `Decoded by ${note[1]}.` : before);
  } catch (error) {
    return say(error.message);
  }
  draw();
  performance.measure("settle", { start });
}

// ---------------------------------------------------------------------------------------------------------- drawing

function described(one, m) {
  if (!m) return "root";
  const { head, deprel, probability } = one.tree[m], pin = one.pins[m];
  const said = [`${m} ${one.rows[m][FORM]}`, `${deprel} of ${head ? one.rows[head][FORM] : "the root"}`];
  if ("head" in pin) said.push("pinned");
  else if (probability >= 0) said.push(`probability ${probability.toFixed(2)}`);
  return said.join(", ");
}

function draw() {
  const one = sentence(), focused = document.activeElement?.closest(".words");
  const left = byId("tree").scrollLeft;
  const buttons = one.rows.map((cells, m) => {
    const state = { tabindex: m === current ? 0 : -1, "aria-pressed": m === chosen && m > 0, "aria-label": described(one, m) };
    const button = element("button", { type: "button", "data-word": m, ...state }, m ? cells[FORM] : "root");
    if (m) {
      const kind = "deprel" in one.pins[m] ? "deprel pinned" : "deprel";
      button.append(element("small", {}, cells[UPOS] === "_" ? "" : cells[UPOS]), element("small", { class: kind }, one.tree[m].deprel));
    }
    return button;
  });
  const words = element("div", { class: "words", role: "group", "aria-label": "Words" }, ...buttons);
  byId("tree").replaceChildren(words);
  const middle = buttons.map((button) => button.offsetLeft + button.offsetWidth / 2);
  const arcs = one.tree.slice(1).map(({ head }, k) => ({ m: k + 1, head, from: Math.min(k + 1, head), to: Math.max(k + 1, head), level: 1 }));
  arcs.sort((a, b) => a.to - a.from - (b.to - b.from));
  arcs.forEach((arc, k) => arcs.slice(0, k).forEach((inner) => {
    if (inner.from >= arc.from && inner.to <= arc.to) arc.level = Math.max(arc.level, inner.level + 1);
  }));
  const height = 24 + 16 * Math.max(...arcs.map((arc) => arc.level));
  const picture = element("svg", { width: words.offsetWidth, height, "aria-hidden": "true" });
  for (const { m, head, level } of arcs) {
    const side = head < m ? -1 : 1, [x, y] = [middle[m] + 3 * side, middle[head] - 3 * side];
    const top = height - 8 - 16 * level, bend = Math.min(10, Math.abs(x - y) / 2);
    const kind = ("head" in one.pins[m] ? "pinned" : "") + (one.tree[m].probability < UNSURE ? " unsure" : "");
    const over = `V${top + bend} Q${y},${top} ${y - side * bend},${top} H${x + side * bend} Q${x},${top} ${x},${top + bend}`;
    picture.append(element("path", { d: `M${y},${height} ${over} V${height - 6}`, class: kind }));
    picture.append(element("path", { d: `M${x - 4},${height - 8} h8 l-4,8 z`, class: `end ${kind}` }));
  }
  byId("tree").prepend(picture);
  byId("tree").scrollLeft = left;
  if (focused) buttons[current].focus();
  byId("place").textContent = `${at + 1} of ${sentences.length}, ${sentences.filter((each) => each.accepted).length} accepted`;
  byId("text").textContent = one.rows.slice(1).map((cells) => cells[FORM]).join(" ");
  const off = { previous: at === 0, next: at === sentences.length - 1, undo: !one.past.length, redo: !one.future.length };
  for (const [id, disabled] of Object.entries(off)) byId(id).disabled = disabled;
  byId("accept").setAttribute("aria-pressed", one.accepted);
  byId("relations").replaceChildren(...[...relations].sort().map((value) => element("option", { value })));
  look();
}

// Shows the word with which the relation and the pins deal.
function look() {
  byId("whose").textContent = `Relation of ${sentence().rows[current][FORM]}`;
  byId("relation").value = sentence().tree[current].deprel;
  byId("unpin").disabled = !Object.keys(sentence().pins[current]).length;
}

// --------------------------------------------------------------------------------------------------------- deciding

const state = (one) => ({ pins: one.pins.map((pin) => pin && { ...pin }), accepted: one.accepted });

function change(decide, settles = true) {
  const one = sentence();
  one.past.push(state(one));
  one.future = [];
  decide(one);
  return settles ? settle() : draw();
}

function travel(from, to) {
  const one = sentence(), was = one[from].pop();
  if (!was) return;
  one[to].push(state(one));
  Object.assign(one, was);
  settle();
}

function attach(m, head) {
  chosen = 0;
  current = m;
  return change((one) => {
    if (one.tree[m].head !== head) delete one.pins[m].deprel;
    one.pins[m].head = head;
  });
}

function relate() {
  const deprel = byId("relation").value.trim().replaceAll(/\s+/g, "_");
  if (!deprel) return say("A relation has to have a name.");
  relations.add(deprel);
  change((one) => (one.pins[current] = { head: one.tree[current].head, deprel }));
  focusOn(current);
}

function choose(m) {
  if (chosen && m !== chosen) return attach(chosen, m);
  chosen = chosen || !m ? 0 : m;
  current = m || current;
  say(chosen ? `Choose the head of ${sentence().rows[m][FORM]}.` : "");
  draw();
}

const focusOn = (m) => document.querySelector(`[data-word="${m}"]`)?.focus();
const unpin = () => Object.keys(sentence().pins[current]).length && change((one) => (one.pins[current] = {}));
const accept = () => change((one) => (one.accepted = !one.accepted), false);

async function turn(by) {
  if (!sentences[at + by]) return;
  [at, current, chosen] = [at + by, 1, 0];
  say("");
  await (sentence().tree ? draw() : settle());
  focusOn(current);
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
  const m = Number(document.activeElement.dataset.word), last = sentence().rows.length - 1;
  const to = { ArrowLeft: Math.max(m - 1, 0), ArrowRight: Math.min(m + 1, last), Home: 1, End: last }[event.key];
  if (to !== undefined) focusOn(to);
  else if (event.key === "0") attach(chosen || current, 0);
  else if (event.key === "r") byId("relation").select();
  else if (event.key === "Delete" || event.key === "Backspace") unpin();
  else if (event.key === "Escape") choose(chosen);
  else return;
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  if (byId("main").hidden || ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) return;
  const control = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
  if (control && key === "z" && !event.shiftKey) undo();
  else if (control && (key === "y" || key === "z")) redo();
  else if (control || event.altKey) return;
  else if (key === "a") accept();
  else if (key === "n") turn(1);
  else if (key === "p") turn(-1);
  else return;
  event.preventDefault();
});

byId("relation").addEventListener("keydown", (event) => {
  if (event.key === "Enter") relate();
  if (event.key === "Escape") focusOn(current);
});

const [undo, redo] = [() => travel("past", "future"), () => travel("future", "past")];
const actions = { previous: () => turn(-1), next: () => turn(1), undo, redo, accept, download, set: relate, unpin };
for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);

byId("file").addEventListener("change", async () => {
  const [file] = byId("file").files;
  if (!file) return;
  name = file.name.replace(/(\.conllu|\.txt)?$/, ".annotated.conllu");
  byId("input").value = file.name.endsWith(".txt") ? "text" : "conllu";
  byId("data").value = await file.text();
});

byId("open").addEventListener("submit", async (event) => {
  event.preventDefault();
  say("Parsing …");
  try {
    const data = byId("data").value, input = byId("input").value;
    const text = input === "conllu" ? data : await process({ data, input });
    sentences = read(text, input === "conllu" && byId("keep").checked);
    if (!sentences.length) throw new Error("There are no sentences in it.");
    at = 0;
    await turn(0);
    byId("main").hidden = !sentence().tree;
    if (sentence().tree) [draw(), focusOn(current)];
  } catch (error) {
    say(error.message);
  }
});

window.addEventListener("beforeunload", (event) => sentences.some((one) => one.past.length) && event.preventDefault());
window.addEventListener("resize", () => sentences.length && sentence().tree && draw());
