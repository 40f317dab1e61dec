// Draw a tree: the words as buttons in a line, and the arcs above them.
"use strict";

const UNSURE = 0.9; // arcs of a lower probability are dashed, and relations underlined

function element(tag, attributes, ...children) {
  const drawn = tag === "svg" || tag === "path";
  const made = drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function described(rows, m, { head, deprel, probability, ofLabel }, pin) {
  const place = head === undefined ? "without a head" : `${deprel ?? "_"} of ${head ? rows[head][FORM] : "the root"}`;
  const said = [`${m} ${rows[m][FORM]}`, place];
  if ("head" in pin) said.push("pinned");
  else if (probability >= 0) said.push(`probability ${probability.toFixed(2)}`);
  if (!("deprel" in pin) && ofLabel < UNSURE) said.push(`of the relation ${ofLabel.toFixed(2)}`);
  return said.join(", ");
}

// Draw the words, and the arc to each word, { head, deprel, probability, ofLabel }, whose parts may be missing. pins:
// what is decided. current: the word that the keys act on. chosen: the word whose head is to be chosen, or 0. The words
// follow the text direction of the box.
function drawTree(box, rows, arcs, pins, current, chosen) {
  const left = box.scrollLeft;
  const buttons = rows.map((cells, m) => {
    const label = m ? described(rows, m, arcs[m], pins[m]) : "root";
    const state = { tabindex: m === current ? 0 : -1, "aria-pressed": m === chosen && m > 0, "aria-label": label };
    const button = element("button", { type: "button", "data-word": m, ...state }, m ? cells[FORM] : "root");
    if (m) {
      const kind = "deprel" + ("deprel" in pins[m] ? " pinned" : arcs[m].ofLabel < UNSURE ? " unsure" : "");
      button.append(element("small", {}, cells[UPOS] === "_" ? "" : cells[UPOS]), element("small", { class: kind }, arcs[m].deprel ?? ""));
    }
    return button;
  });
  const words = element("div", { class: "words", role: "group", "aria-label": "Words" }, ...buttons);
  box.replaceChildren(words);
  const middle = buttons.map((button) => button.offsetLeft - words.offsetLeft + button.offsetWidth / 2), levels = levelsOf(arcs);
  const height = 24 + 16 * levels.reduce((most, level) => Math.max(most, level ?? 0), 0);
  const picture = element("svg", { width: words.offsetWidth, height, "aria-hidden": "true" });
  arcs.forEach((arc, m) => {
    if (!m || arc.head === undefined) return;
    const side = middle[arc.head] < middle[m] ? -1 : 1, [x, y] = [middle[m] + 3 * side, middle[arc.head] - 3 * side];
    const top = height - 8 - 16 * levels[m], bend = Math.min(10, Math.abs(x - y) / 2);
    const kind = ("head" in pins[m] ? "pinned" : "") + (arc.probability < UNSURE ? " unsure" : "");
    const over = `V${top + bend} Q${y},${top} ${y - side * bend},${top} H${x + side * bend} Q${x},${top} ${x},${top + bend}`;
    picture.append(element("path", { d: `M${y},${height} ${over} V${height - 6}`, class: kind }));
    picture.append(element("path", { d: `M${x - 4},${height - 8} h8 l-4,8 z`, class: `end ${kind}` }));
  });
  box.prepend(picture);
  box.scrollLeft = left;
  return buttons;
}

// How high the arc to each word is drawn: one level above the shorter arcs with which it shares space.
function levelsOf(arcs) {
  const levels = [], spans = [];
  arcs.forEach((arc, m) => m && arc.head !== undefined && spans.push([Math.min(m, arc.head), Math.max(m, arc.head), m]));
  spans.sort((a, b) => a[1] - a[0] - (b[1] - b[0]));
  spans.forEach(([from, to, m], k) => {
    levels[m] = 1;
    for (let inner = 0; inner < k; inner++) {
      if (spans[inner][0] < to && spans[inner][1] > from) levels[m] = Math.max(levels[m], levels[spans[inner][2]] + 1);
    }
  });
  return levels;
}
