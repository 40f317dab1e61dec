// Steps through the deduction of a tree (docs/extensions/chart_steps.py): items on one side, stack, buffer and arcs on the other.

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const shownItem = (item) => "[" + item.join(", ") + "]";

// The items that no later step has used yet: what the deductions so far have made.
function waiting(steps, count) {
  const items = [];
  for (const step of steps.slice(0, count)) {
    items.splice(items.length - step.used.length, step.used.length);
    items.push(step);
  }
  return items;
}

function explained(step, name) {
  if (step.rule === "axiom") return "Axiom: [0, 1]. The root is shifted, and the first word is next.";
  if (step.rule === "shift") return "Shift: " + name(step.item[0]) + " moves to the stack. Its score waits for the Combine.";
  if (step.rule === "combine") {
    return "Combine: " + step.used.map(shownItem).join(" + ") + " share " + name(step.used[1][0]) +
      ". This is no transition, but the shift of " + name(step.used[1][0]) + " is scored here (" + step.gained + ").";
  }
  const [head, dependent] = step.arc;
  return "Link: " + step.transition + " attaches " + name(dependent) + " to " + name(head) + " (" + step.gained + "), and " +
    name(dependent) + " leaves the item.";
}

function chart(place, data) {
  const { words, picture, steps } = data;
  const name = (node) => (node === 0 ? "root" : node > words.length ? "end" : words[node - 1]);
  const quoted = (node) => (node === 0 || node > words.length ? "the " + name(node) : "“" + name(node) + "”");
  let count = 0;
  const button = (text, label, to) => {
    const made = element("button", { type: "button", "aria-label": label }, text);
    made.addEventListener("click", () => show(to()));
    return made;
  };
  const slider = element("input", { type: "range", min: 0, max: steps.length, value: 0, "aria-label": "Deductions so far" });
  slider.addEventListener("input", () => show(Number(slider.value)));
  const controls = element("div", { class: "controls" },
    button("|◀", "First", () => 0), button("◀", "Back", () => count - 1), slider,
    button("▶", "Forward", () => count + 1), button("▶|", "Last", () => steps.length));
  const said = element("p", { role: "status" });
  const items = element("ol", { class: "items" }), stack = element("ol", { class: "nodes" }), buffer = element("ol", { class: "nodes" });
  const svg = drawn("svg", {
    viewBox: "0 0 " + picture.width + " " + picture.height, width: picture.width, height: picture.height, role: "img",
    "aria-label": "Arcs so far",
  });
  const arcs = picture.arcs.map((arc) => {
    const group = drawn("g", { class: "arc" });
    group.append(drawn("path", { class: "line", d: arc.line }), drawn("path", { class: "arrowhead", d: arc.head }));
    svg.append(group);
    return group;
  });
  const texts = words.map((word, m) => {
    const text = drawn("text", { x: picture.x[m], y: picture.baseline }, word);
    svg.append(text);
    return text;
  });
  place.replaceChildren(controls, said, element("div", { class: "sides" },
    element("section", {}, element("h4", {}, "Items"), items),
    element("section", {}, element("h4", {}, "Stack"), stack, element("h4", {}, "Buffer"), buffer)),
    element("div", { class: "drawing" }, svg));
  place.tabIndex = 0;
  place.addEventListener("keydown", (event) => {
    const to = { ArrowRight: count + 1, ArrowLeft: count - 1, Home: 0, End: steps.length }[event.key];
    if (to === undefined || event.target === slider || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    show(to);
  });

  const node = (number) => element("li", {}, number + " ", element("span", {}, name(number)));

  function show(wanted) {
    count = Math.min(Math.max(wanted, 0), steps.length);
    slider.value = count;
    const step = count ? steps[count - 1] : null;
    said.textContent = count + " of " + steps.length + ". " +
      (step ? explained(step, quoted) : "Nothing is derived yet. Press → to begin.");
    items.replaceChildren(...waiting(steps, count).map((made) =>
      element("li", { class: made === step ? "new" : "" }, shownItem(made.item) + " ",
        element("span", {}, made.item.map(name).join(" · ") + " (" + made.score + ")"))));
    const b0 = step ? step.b0 : 0;
    stack.replaceChildren(...(step ? step.stack : []).map(node));
    buffer.replaceChildren(...Array.from({ length: words.length + 2 - b0 }, (_, k) => node(b0 + k)));
    arcs.forEach((arc, m) => {
      arc.classList.toggle("made", Boolean(step) && step.attached.includes(m + 1));
      arc.classList.toggle("new", Boolean(step && step.arc) && step.arc[1] === m + 1);
    });
    texts.forEach((text, m) => text.classList.toggle("gone", Boolean(step) && step.attached.includes(m + 1)));
  }

  show(0);
}

document.querySelectorAll(".mh4-chart").forEach((place) => chart(place, JSON.parse(place.nextElementSibling.textContent)));
