// Draws a tree as SVG. mh4/drawing/layout.py computes the places; paths are as in Layout.arc.

const DATA = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

const svg = (name, ...rest) => made(document.createElementNS(SVG, name), ...rest);
const html = (name, ...rest) => made(document.createElement(name), ...rest);

function made(element, attributes, ...children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children); // strings become text
  return element;
}

// Returns the paths of the line and the arrowhead of the arc to word m, and the place of its label.
function arcPaths(tree, m) {
  const { level, corner } = DATA.layout, bottom = tree.bottom;
  const start = tree.from[m], end = tree.to[m], top = bottom - level * tree.levels[m];
  let line = `M${end} ${top}V${bottom - 4}`;
  if (start !== end) {
    const r = Math.min(corner, Math.abs(end - start) / 2), across = end > start ? r : -r;
    line = `M${start} ${bottom}V${top + r}q0 ${-r} ${across} ${-r}H${end - across}q${across} 0 ${across} ${r}V${bottom - 4}`;
  }
  return { line, arrowhead: `M${end} ${bottom}l-3.5 -6h7z`, x: (start + end) / 2, y: top + 4 };
}

// Draws a tree; returns its SVG element and, by word, the elements of the arc to it, its label and the word itself.
function drawTree(sentence, tree, id) {
  const { palest, wordSize, labelSize, tagSize } = DATA.layout;
  const markers = svg("g", {}), arcs = svg("g", { "aria-hidden": "true" }), labels = svg("g", { "aria-hidden": "true" });
  const tags = svg("g", { "aria-hidden": "true" });
  const words = svg("g", { role: "none" }); // otherwise the words would not be options of the list box
  const parts = sentence.words.map((form, m) => {
    const crossed = tree.crossed.has(m) ? " crossed" : "", probability = tree.probabilities?.[m] ?? 1;
    const [head, relation] = [sentence.differingHeads.has(m), sentence.differingLabels.has(m)];
    // Readers look for arcs that differ, so these are not paler if they are improbable, but only dashed.
    const paths = arcPaths(tree, m), shade = head || relation ? 1 : palest + (1 - palest) * probability;
    const arc = svg(
      "g",
      { class: "arc" + crossed + (head ? " differs" : "") + (probability < 0.5 ? " doubtful" : "") },
      svg("path", { class: "line", d: paths.line, opacity: shade }),
      svg("path", { class: "arrowhead", d: paths.arrowhead, opacity: shade }),
    );
    const ofLabel = { "font-size": labelSize, "fill-opacity": (1 + shade) / 2 }; // less pale, to remain legible
    const label = svg("text", { class: "label" + crossed + (relation ? " differs" : ""), x: paths.x, y: paths.y, ...ofLabel }, tree.deprels[m]);
    const word = svg(
      "text",
      { class: "word", x: tree.x[m], y: tree.baseline, "font-size": wordSize, id: `${id}-${m}`, role: "option", "aria-selected": "false" },
      form,
    );
    word.setAttribute("aria-label", described(sentence, tree, m).replaceAll("\n", ", "));
    arcs.append(arc);
    labels.append(label);
    words.append(word);
    const [upos] = tree.tags[m];
    if (known(upos)) tags.append(svg("text", { class: "tag", x: tree.x[m], y: tree.tagline, "font-size": tagSize }, upos));
    return { arc, label, word };
  });
  const picture = svg("svg", { viewBox: `0 0 ${tree.width} ${tree.height}`, role: "presentation" }, markers, arcs, labels, words, tags);
  return { picture, tree, markers, parts };
}

// Describes a word, its tags and its arc in text.
function described(sentence, tree, m) {
  const head = tree.heads[m], probability = tree.probabilities?.[m] ?? null;
  const [upos, xpos, feats] = tree.tags[m];
  const [form, lemma] = [sentence.words[m], sentence.lemmas[m]];
  const arc = head ? `${tree.deprels[m]} of ${isolated(sentence.words[head - 1])} (${head})` : `${tree.deprels[m]}, headed by the root`;
  return [
    `${m + 1} ${isolated(form)}` + (known(lemma) ? `, lemma ${isolated(lemma)}` : ""),
    [upos, xpos].filter(known).join(" "),
    feats.split("|").filter(known).join(" "),
    arc + (tree.crossed.has(m) ? ", crossed" : ""),
    probability !== null ? `probability ${probability.toFixed(3)}` : "",
    sentence.differingHeads.has(m) ? "the heads differ" : "",
    sentence.differingLabels.has(m) ? "the relations differ" : "",
  ].filter((line) => line).join("\n");
}

// Isolates a word of any script, so that it does not change the order of the English text around it.
function isolated(word) {
  return `\u2068${word}\u2069`;
}

function known(value) {
  return value && value !== "_";
}

// Adds a rectangle behind a text element of the drawing.
function mark(markers, element) {
  const box = element.getBBox();
  markers.append(svg("rect", { class: "marker", x: box.x - 2, y: box.y, width: box.width + 4, height: box.height }));
}
