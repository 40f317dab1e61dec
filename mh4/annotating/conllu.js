// Read CoNLL-U strictly, since a lost row would shift all others. Write it unchanged except for what is decided here.
"use strict";

const [ID, FORM, UPOS, HEAD, DEPREL, DEPS, MISC] = [0, 1, 3, 6, 7, 8, 9];
const OURS = /^(Pinned=(head|deprel|head,deprel)|(Arc|Label)Prob=.*)$/; // attributes of MISC: decisions, probabilities

// Return the sentences of a text. A sentence has its lines, and for each word, from 1: in `rows` its columns, in `at`
// its line, in `pins` what is decided, { head, deprel }, and in `given` what the file has. It also has `accepted`.
// Throws an Error for text that is not CoNLL-U. keep: whether all given heads and relations are decided if no word has
// a mark.
function read(text, keep) {
  const end = text.includes("\r\n") ? "\r\n" : "\n", blocks = [];
  let lines = [];
  text.replace(/^\ufeff/, "").split(/\r?\n/).concat("").forEach((line, k) => {
    if (line.replaceAll(" ", "")) return lines.push(line);
    if (lines.length) blocks.push([lines, k - lines.length]);
    lines = [];
  });
  if (!blocks.length) throw new Error("There are no sentences in it.");
  return blocks.map(([lines, start]) => ({ end, ...sentenceOf(lines, start, keep) }));
}

function sentenceOf(lines, start, keep) {
  const rows = [null], at = [null];
  const wrong = (k, why) => new Error(`Line ${start + k + 1}: ${why}.`);
  lines.forEach((line, k) => {
    if (line.startsWith("\ufeff")) throw wrong(k, "a byte order mark, which can only be at the start of a file");
    if (/[\r\0]/.test(line)) throw wrong(k, "a carriage return or a NUL within the line");
    if (line.startsWith("#")) return;
    const cells = line.split("\t");
    if (cells.length !== 10) throw wrong(k, `the number of columns is ${cells.length}, expected the 10 of CoNLL-U, separated by tabs`);
    if (!cells.every((cell) => cell.trim())) throw wrong(k, "an empty column, expected _ if there is no value");
    if (/^\d+[-.]\d+$/.test(cells[ID])) return;
    if (cells[ID] !== String(rows.length)) throw wrong(k, `ID is ${cells[ID]}, expected ${rows.length}`);
    rows.push(cells);
    at.push(k);
  });
  if (rows.length - 1 > document.body.dataset.most) throw wrong(0, document.body.dataset.tooMany);
  if (rows.length === 1) throw wrong(0, "a sentence without words");
  const isHead = (cell) => cell === "_" || (/^\d{1,6}$/.test(cell) && Number(cell) < rows.length);
  rows.forEach((cells, m) => {
    if (m && !isHead(cells[HEAD])) throw wrong(at[m], `HEAD is ${cells[HEAD]}, but the last word is ${rows.length - 1}`);
  });
  const decided = (has) => rows.map((cells) => cells && {
    ...(has(cells, "head") && cells[HEAD] !== "_" && { head: Number(cells[HEAD]) }),
    ...(has(cells, "deprel") && cells[DEPREL] !== "_" && { deprel: cells[DEPREL] }),
  });
  const given = decided(() => true), whole = given.every((pin) => !pin || ("head" in pin && "deprel" in pin));
  const marks = rows.map((cells) => cells?.[MISC].match(/(?:^|\|)Pinned=(head|deprel|head,deprel)(?:\||$)/)?.[1].split(","));
  const marked = marks.some(Boolean); // then a parser proposed the rest
  const pins = decided((cells, name) => (marked ? marks[cells[ID]]?.includes(name) : keep));
  return { lines, rows, at, pins, given, accepted: whole && lines.some((line) => /^# *accepted *= *yes *$/.test(line)) };
}

// Return the text of a sentence with a tree, or part of a tree: { head, deprel } for each word. pins: the decisions to
// mark. If the tree differs from the file's, the enhanced graph is left out.
function written(one, tree, pins = null, accepted = false) {
  const same = one.rows.every((cells, m) => !m || (cells[HEAD] === String(tree[m].head) && cells[DEPREL] === tree[m].deprel));
  const lines = [...one.lines];
  one.rows.forEach((cells, m) => {
    if (!m) return;
    const row = [...cells];
    [row[HEAD], row[DEPREL]] = [String(tree[m].head ?? "_"), tree[m].deprel ?? "_"];
    if (!same) row[DEPS] = "_";
    const misc = row[MISC].split("|").filter((each) => each !== "_" && !OURS.test(each));
    const decided = ["head", "deprel"].filter((name) => pins && name in pins[m]).join(",");
    if (decided) misc.push(`Pinned=${decided}`);
    row[MISC] = misc.join("|") || "_";
    lines[one.at[m]] = row.join("\t");
  });
  const emptied = (line) => (same || !/^\d+-\d+\t/.test(line) ? line : line.split("\t").map((cell, k) => (k === DEPS ? "_" : cell)).join("\t"));
  const kept = lines.filter((line) => !/^# *(accepted|mh4) *=/.test(line) && (same || !/^\d+\.\d+\t/.test(line))).map(emptied);
  if (accepted) kept.splice(kept.findIndex((line) => !line.startsWith("#")), 0, "# accepted = yes");
  return unchanged({ ...one, lines: kept });
}

const unchanged = (one) => one.lines.join(one.end) + one.end + one.end;
