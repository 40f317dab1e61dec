// The page: sentences in pages of 50, drawn when they come into view; search, filter, tables and transitions.

const PER_PAGE = 50;

// Unpacks a sentence of page.py. Each sentence is unpacked once.
const unpacked = [];
const unpack = (index) => (unpacked[index] ??= unpackSentence(DATA.sentences[index]));

function unpackSentence(packed) {
  return {
    ...packed,
    text: packed.text || packed.words.join(" "),
    trees: packed.trees.map(unpackTree),
    differingHeads: new Set(packed.differingHeads),
    differingLabels: new Set(packed.differingLabels),
  };
}

function unpackTree(packed) {
  return {
    ...packed,
    deprels: packed.deprels.map((k) => DATA.deprels[k]),
    tags: packed.tags.map((k) => DATA.tags[k]),
    crossed: new Set(packed.crossed),
    source: DATA.sources[packed.source] + (packed.note && ` Decoded by ${packed.note.replace(", ", ": ")}.`),
  };
}

// ------------------------------------------------------------------------------------------------------------- search

// Returns the words, from 0, in which terms were found; null if the sentence does not have all terms.
function search(sentence, terms) {
  const hits = new Set();
  for (const term of terms) {
    let found = sentence.sentId.toLowerCase() === term || (term === "crossed" && sentence.trees.some((tree) => tree.crossed.size));
    sentence.words.forEach((word, m) => {
      const described = sentence.trees.some((tree) => descriptions(tree, m).includes(term));
      if (described || word.toLowerCase().includes(term)) {
        hits.add(m);
        found = true;
      }
    });
    if (!found) return null;
  }
  return hits;
}

// Returns what a search finds of a word and its arc: the relation (with and without subtype), UPOS, XPOS, each feature.
function descriptions(tree, m) {
  const [upos, xpos, feats] = tree.tags[m], relation = tree.deprels[m];
  return [relation, relation.split(":")[0], upos, xpos, ...feats.split("|")].filter(known).map((each) => each.toLowerCase());
}

let matches = []; // [index of a sentence, the words found in it]
let page = 0;

function update() {
  const terms = searched().toLowerCase().split(/\s+/).filter((term) => term);
  matches = [];
  DATA.sentences.forEach((packed, index) => {
    if (byId("differing").checked && !packed.differing.length) return;
    const hits = terms.length ? search(unpack(index), terms) : new Set();
    if (hits) matches.push([index, hits]);
  });
  const total = DATA.sentences.length;
  const sentences = total === 1 ? "1 sentence" : `${total} sentences`;
  byId("found").textContent = matches.length === total ? sentences : `${matches.length} of ${sentences}`;
  turnTo(0);
}

const searched = () => byId("query").value.trim();

function nothingFound() {
  const where = byId("differing").checked ? " in which the trees differ" : "";
  const what = searched() ? ` has “${isolated(searched())}”. Words, relations, tags (UPOS, XPOS, or a feature such as Case=Gen), sent_ids and “crossed” can be found.` : ".";
  return html("p", { class: "nothing" }, `No sentence${where}${what}`);
}

// Returns text such as "7 of 19 arcs differ", for one sentence or all.
function differing(sentences) {
  const [some, all] = ["differing", "words"].map((name) => sentences.reduce((sum, sentence) => sum + sentence[name].length, 0));
  return `${some.toLocaleString("en")} of ${all.toLocaleString("en")} arc${all === 1 ? "" : "s"} differ${some === 1 ? "s" : ""}`;
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
  byId("sentences").replaceChildren(...(articles.length ? articles : [nothingFound()]));
  window.scrollTo(0, 0);
  writeAddress();
}

// Turns to the page with the sentence in this place, from 1, and shows the sentence, if it is among those found.
function goTo(number) {
  const place = matches.findIndex(([index]) => index === number - 1);
  if (place < 0) return;
  turnTo(Math.floor(place / PER_PAGE));
  const articles = [...byId("sentences").children], at = place % PER_PAGE;
  articles.slice(Math.max(at - 4, 0), at + 2).forEach(fill); // fill those above first, as they would push it down
  articles[at].scrollIntoView();
  writeAddress();
}

// Returns the article at the top of the window.
function current() {
  const top = parseFloat(document.documentElement.style.scrollPaddingTop) + 1;
  return [...document.querySelectorAll("article")].find((article) => article.getBoundingClientRect().bottom > top);
}

// Draws a sentence into its article.
function fill(article) {
  observer.unobserve(article);
  if (article.childElementCount) return;
  const sentence = unpack(article.index), number = article.index + 1, id = `s${number}`;
  article.style.minHeight = "";
  article.setAttribute("aria-labelledby", id);
  article.append(
    html(
      "h2",
      { id },
      html("a", { href: address(number), title: "Link to this sentence" }, `${sentence.number}`),
      sentence.sentId ? ` · ${sentence.sentId}` : "",
      sentence.trees.length > 1 ? ` · ${differing([sentence])}` : "",
    ),
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
  const actions = html("div", { class: "actions" }), panels = [html("div", {}), html("div", {})];
  article.append(box, actions, ...panels);
  addSize(box, drawing);
  article.hits.forEach((m) => mark(drawing.markers, drawing.parts[m].word));
  browse(box, drawing, (m) => described(sentence, tree, m));
  if (tree.transitions.length) {
    const steps = `${id}-steps`;
    actions.append(toggle("Transitions", panels[0], steps, () => stepPanel(sentence, tree, drawing, steps), () => endSteps(drawing)));
  }
  actions.append(toggle("Table", panels[1], `${id}-table`, () => table(sentence, tree, `${id}-table`), () => {}));
  if (!tree.transitions.length) actions.append(html("span", { class: "reason" }, tree.source));
}

// Returns a button that opens a panel in `place` and closes it again.
function toggle(name, place, id, open, close) {
  const button = html("button", { type: "button", "aria-pressed": "false", "aria-expanded": "false", "aria-controls": id }, name);
  button.addEventListener("click", () => {
    const opening = !place.firstChild;
    for (const state of ["aria-pressed", "aria-expanded"]) button.setAttribute(state, String(opening));
    place.replaceChildren(...(opening ? [open()] : []));
    if (!opening) close();
  });
  return button;
}

// Returns the tree as a table, which any screen reader can read.
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

// -------------------------------------------------------------------------------------------------------------- start

byId("query").addEventListener("input", update);
byId("differing").addEventListener("change", update);
byId("previous").addEventListener("click", () => turnTo(page - 1));
byId("next").addEventListener("click", () => turnTo(page + 1));
window.addEventListener("beforeprint", () => document.querySelectorAll("article").forEach(fill));
window.addEventListener("scroll", placeTooltip, { passive: true });
const compared = DATA.names.length > 1;
byId("differing-label").hidden = byId("differ").hidden = !compared;
document.querySelectorAll(".key.differs, .key.relabelled").forEach((key) => (key.hidden = !compared));
byId("differ").textContent = compared ? differing(DATA.sentences) : "";
document.querySelector(".key.pale").hidden = !DATA.probable;
followSize();
readAddress();
