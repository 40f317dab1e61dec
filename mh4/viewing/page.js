// The page: sentences in pages of 50, drawn when they come into view; search, filter, words one by one, tables and transitions.

const DATA = JSON.parse(document.getElementById("data").textContent);
const PER_PAGE = 50;
const byId = (id) => document.getElementById(id);

// A sentence as page.py packs it, with names. Each is unpacked once.
const unpacked = new Map();
function unpack(index) {
  if (!unpacked.has(index)) {
    const [number, sentId, text, words, lemmas, trees] = DATA.sentences[index];
    const sentence = { number, sentId, text: text || words.join(" "), words, lemmas };
    sentence.trees = trees.map(unpackTree);
    const [first, second] = sentence.trees;
    const differs = (m) => second && (first.heads[m] !== second.heads[m] || first.deprels[m] !== second.deprels[m]);
    sentence.differing = new Set([...words.keys()].filter(differs));
    unpacked.set(index, sentence);
  }
  return unpacked.get(index);
}

function unpackTree(packed) {
  return {
    ...packed,
    deprels: packed.deprels.map((k) => DATA.deprels[k]),
    tags: packed.tags.map((k) => DATA.tags[k]),
    crossed: new Set(packed.crossed),
    probabilities: packed.probabilities && packed.probabilities.map((p) => (p === null ? null : p / 10000)),
    transitions: Array.from(packed.transitions, (letter) => letter.charCodeAt(0) - 97),
    source: DATA.sources[packed.source],
  };
}

// ------------------------------------------------------------------------------------------------------------- search

// The words, from 0, in which each of the terms was found, or null if one was not found.
function search(sentence, terms) {
  const hits = new Set();
  for (const term of terms) {
    let found = sentence.sentId.toLowerCase() === term || (term === "crossed" && sentence.trees.some((tree) => tree.crossed.size));
    sentence.words.forEach((word, m) => {
      const related = sentence.trees.some(({ deprels }) => deprels[m] === term || deprels[m].split(":")[0] === term);
      if (related || word.toLowerCase().includes(term)) {
        hits.add(m);
        found = true;
      }
    });
    if (!found) return null;
  }
  return hits;
}

let matches = []; // [index of a sentence, the words found in it]
let page = 0;

function update() {
  const terms = byId("query").value.toLowerCase().split(/\s+/).filter((term) => term);
  matches = [];
  for (let index = 0; index < DATA.sentences.length; index++) {
    if (terms.length || byId("differing").checked) {
      const sentence = unpack(index);
      const hits = byId("differing").checked && !sentence.differing.size ? null : search(sentence, terms);
      if (hits) matches.push([index, hits]);
    } else {
      matches.push([index, new Set()]);
    }
  }
  const total = DATA.sentences.length;
  const sentences = total === 1 ? "1 sentence" : `${total} sentences`;
  byId("found").textContent = matches.length === total ? sentences : `${matches.length} of ${sentences}`;
  turnTo(0);
}

// -------------------------------------------------------------------------------------------------------------- pages

const observer = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => fill(entry.target)),
  { rootMargin: "600px" },
);

function turnTo(number) {
  const pages = Math.max(1, Math.ceil(matches.length / PER_PAGE));
  page = Math.min(Math.max(number, 0), pages - 1);
  byId("page").textContent = `Page ${page + 1} of ${pages}`;
  byId("previous").disabled = page === 0;
  byId("next").disabled = page === pages - 1;
  observer.disconnect();
  hideTooltip();
  const articles = matches.slice(page * PER_PAGE, (page + 1) * PER_PAGE).map(([index, hits]) => {
    const article = html("article", { style: "min-height: 16rem" });
    Object.assign(article, { index, hits });
    observer.observe(article);
    return article;
  });
  byId("sentences").replaceChildren(...articles);
  window.scrollTo(0, 0);
}

// Draws a sentence into its article.
function fill(article) {
  observer.unobserve(article);
  if (article.childElementCount) return;
  const sentence = unpack(article.index), id = `s${sentence.number}`;
  article.style.minHeight = "";
  article.setAttribute("aria-labelledby", id);
  article.append(
    html("h2", { id }, `${sentence.number}`, sentence.sentId ? ` · ${sentence.sentId}` : ""),
    html("p", { class: "text", dir: DATA.direction }, sentence.text),
  );
  sentence.trees.forEach((tree, k) => {
    if (sentence.trees.length > 1) article.append(html("h3", {}, DATA.names[k]));
    addTree(article, sentence, tree, `${id}-${k}`, DATA.names[k]);
  });
}

function addTree(article, sentence, tree, id, name) {
  const drawing = drawTree(sentence, tree, id);
  const box = html("div", { class: "tree", role: "listbox", tabindex: 0, "aria-orientation": "horizontal", dir: DATA.direction });
  box.setAttribute("aria-label", `Tree of sentence ${sentence.number} in ${name}: left and right move from word to word`);
  box.append(drawing.picture);
  const actions = html("div", { class: "actions" });
  article.append(box, actions);
  article.hits.forEach((m) => mark(drawing.markers, drawing.parts[m].word));
  browse(box, drawing, (m) => described(sentence, tree, m));
  if (tree.transitions.length) {
    toggle(actions, "Transitions", `${id}-steps`, () => stepPanel(sentence, tree, drawing, `${id}-steps`), () => endSteps(drawing));
  }
  toggle(actions, "Table", `${id}-table`, () => table(sentence, tree, `${id}-table`), () => {});
}

// A button that opens a panel below and closes it again.
function toggle(actions, name, id, open, close) {
  const button = html("button", { type: "button", "aria-expanded": "false", "aria-controls": id }, name);
  button.addEventListener("click", () => {
    const panel = byId(id);
    button.setAttribute("aria-expanded", String(!panel));
    if (panel) {
      panel.remove();
      close();
    } else {
      actions.after(open());
    }
  });
  actions.append(button);
}

// The tree as a table, which any screen reader reads.
function table(sentence, tree, id) {
  const row = (kind, cells) => html("tr", {}, ...cells.map((cell) => html(kind, kind === "th" ? { scope: "col" } : { dir: "auto" }, String(cell))));
  const shown = ["Word", "Form", "Lemma", "UPOS", "XPOS", "FEATS", "Head", "Relation"].concat(tree.probabilities ? ["Probability"] : []);
  const rows = sentence.words.map((form, m) => [
    ...[m + 1, form, sentence.lemmas[m], ...tree.tags[m], tree.heads[m], tree.deprels[m]],
    ...(tree.probabilities ? [tree.probabilities[m] ?? ""] : []),
  ]);
  const made = html("table", {}, html("thead", {}, row("th", shown)), html("tbody", {}, ...rows.map((cells) => row("td", cells))));
  return html("div", { class: "scroll", id, tabindex: 0, role: "group", "aria-label": "Table" }, made);
}

// ------------------------------------------------------------------------------------------------- words one by one

// Words are looked at with the pointer, or with the keys while the box has the focus.
function browse(box, drawing, describe) {
  const { parts } = drawing;
  let here = -1;

  function look(m) {
    for (const change of [[here, "remove"], [m, "add"]]) {
      const part = parts[change[0]];
      if (part) Object.values(part).forEach((element) => element.classList[change[1]]("here"));
    }
    parts[here]?.word.setAttribute("aria-selected", "false");
    here = m;
    if (m < 0) {
      box.removeAttribute("aria-activedescendant");
      hideTooltip();
      return;
    }
    const { word } = parts[m];
    word.setAttribute("aria-selected", "true");
    box.setAttribute("aria-activedescendant", word.id);
    showTooltip(word, describe(m));
  }

  parts.forEach(({ word, label, arc }, m) => {
    for (const element of [word, label, arc]) element.addEventListener("pointerenter", () => look(m));
  });
  box.addEventListener("pointerleave", () => look(-1));
  box.addEventListener("focusout", () => look(-1));
  box.addEventListener("scroll", placeTooltip);
  box.addEventListener("keydown", (event) => {
    const onwards = DATA.direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const backwards = DATA.direction === "rtl" ? "ArrowRight" : "ArrowLeft";
    const to = { [onwards]: here + 1, [backwards]: here < 0 ? parts.length - 1 : here - 1, Home: 0, End: parts.length - 1, Escape: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const m = event.key === "Escape" ? -1 : Math.min(Math.max(to, 0), parts.length - 1);
    if (m >= 0) parts[m].word.scrollIntoView({ block: "nearest", inline: "nearest" });
    look(m);
  });
}

let pointedAt = null; // the element that the tooltip is about

function showTooltip(element, text) {
  const tooltip = byId("tooltip");
  tooltip.textContent = text;
  tooltip.hidden = false;
  pointedAt = element;
  placeTooltip();
}

function placeTooltip() {
  if (!pointedAt) return;
  const tooltip = byId("tooltip"), box = pointedAt.getBoundingClientRect();
  const left = Math.min(box.left, document.documentElement.clientWidth - tooltip.offsetWidth - 4);
  const below = box.bottom + 6 + tooltip.offsetHeight < window.innerHeight;
  tooltip.style.left = `${Math.max(left, 4)}px`;
  tooltip.style.top = `${below ? box.bottom + 6 : box.top - tooltip.offsetHeight - 6}px`;
}

function hideTooltip() {
  pointedAt = null;
  byId("tooltip").hidden = true;
}

// -------------------------------------------------------------------------------------------------------------- start

byId("query").addEventListener("input", update);
byId("differing").addEventListener("change", update);
byId("previous").addEventListener("click", () => turnTo(page - 1));
byId("next").addEventListener("click", () => turnTo(page + 1));
window.addEventListener("beforeprint", () => document.querySelectorAll("article").forEach(fill));
window.addEventListener("scroll", placeTooltip, { passive: true });
byId("differing-label").hidden = document.querySelector(".key.differs").hidden = DATA.names.length < 2;
document.querySelector(".key.pale").hidden = !DATA.probable;
update();
