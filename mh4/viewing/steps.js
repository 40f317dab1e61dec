// Shows the transitions of a sentence one at a time, with stack, buffer and arcs so far, as in mh4/transitions.py.

// Returns the configuration after the first `count` transitions: the stack, the first node of the buffer, and the words
// that have their heads.
function configuration(transitions, count) {
  const stack = [], attached = new Set();
  let b0 = 0;
  for (const code of transitions.slice(0, count)) {
    const move = DATA.moves[code];
    if (!move.dependent) {
      stack.push(b0++);
    } else {
      const dependent = nodeAt(move.dependent, stack, b0);
      stack.splice(stack.indexOf(dependent), 1);
      attached.add(dependent);
    }
  }
  return { stack, b0, attached };
}

// Returns the node at a position: b0 or, counted from the top of the stack, s0, s1, ...
function nodeAt(position, stack, b0) {
  return position === "b0" ? b0 : stack[stack.length - 1 - Number(position[1])];
}

// Returns a panel that steps through the transitions, beginning at the finished tree. `drawing` shows the arcs so far.
function stepPanel(sentence, tree, drawing, id) {
  const n = sentence.words.length, last = tree.transitions.length;
  const name = (node) => (node === 0 ? "root" : node > n ? "end" : sentence.words[node - 1]);
  const slider = html("input", { type: "range", min: 0, max: last, value: 0, "aria-label": "Transitions so far" });
  const said = html("p", { role: "status" });
  const stack = html("ol", { class: "nodes", dir: DATA.direction }), buffer = html("ol", { class: "nodes", dir: DATA.direction });
  const button = (icon, label, to) => {
    const path = svg("path", { d: icon, fill: "currentColor" });
    const picture = svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" }, path);
    const clickable = html("button", { type: "button", "aria-label": label, title: label }, picture);
    clickable.addEventListener("click", () => show(to()));
    return clickable;
  };
  const buttons = [
    button("M3 3h2v10H3zM13 3v10L6 8z", "First", () => 0),
    button("M11.5 3v10L4.5 8z", "Back", () => step - 1),
    button("M4.5 3v10l7-5z", "Next transition", () => step + 1),
    button("M11 3h2v10h-2zM3 3v10l7-5z", "Last", () => last),
  ];
  const count = html("span", {});
  const panel = html(
    "div",
    { class: "steps", id, role: "group", "aria-label": "Transitions" },
    html("p", {}, tree.source),
    html("div", { class: "controls" }, ...buttons, slider, count),
    said,
    html("div", { class: "row" }, html("span", {}, "Stack"), stack),
    html("div", { class: "row" }, html("span", {}, "Buffer"), buffer),
  );
  let step = last;

  function show(to) {
    step = Math.min(Math.max(to, 0), last);
    slider.value = step;
    const now = configuration(tree.transitions, step);
    const text = [step ? "Done: " + move(step - 1) + ". " : "", step < last ? "Next: " + move(step) + "." : "The tree is complete."].join("");
    said.textContent = text;
    slider.setAttribute("aria-valuetext", `${step} of ${last}`);
    count.textContent = `${step} of ${last}`;
    stack.replaceChildren(...now.stack.map((node, k) => chip(node, "s" + (now.stack.length - 1 - k))));
    const waiting = Array.from({ length: n + 2 - now.b0 }, (_, k) => chip(now.b0 + k, k ? "" : "b0"));
    buffer.replaceChildren(...waiting);
    drawing.parts.forEach(({ arc, label, word }, m) => {
      const done = now.attached.has(m + 1);
      for (const element of [arc, label]) element.classList.toggle("later", !done);
      word.classList.toggle("removed", done);
      word.classList.toggle("on-stack", now.stack.includes(m + 1));
    });
    buttons[0].disabled = buttons[1].disabled = step === 0;
    buttons[2].disabled = buttons[3].disabled = step === last;
  }

  function chip(node, position) {
    const bare = Number(position.slice(1)) > 3 ? "" : position; // transitions use only s3 to s0 and b0
    return html("li", {}, ...(bare ? [html("small", {}, bare)] : []), name(node));
  }

  function move(k) {
    const { name: transition, head, dependent } = DATA.moves[tree.transitions[k]];
    const before = configuration(tree.transitions, k);
    if (!dependent) return `${transition} shifts ${isolated(name(before.b0))}`;
    const [from, to] = [head, dependent].map((position) => isolated(name(nodeAt(position, before.stack, before.b0))));
    return `${transition} makes ${from} the head of ${to} (${head} → ${dependent}) and removes ${to}`;
  }

  slider.addEventListener("input", () => show(Number(slider.value)));
  show(last);
  return panel;
}

// Shows the whole tree again.
function endSteps(drawing) {
  for (const { arc, label, word } of drawing.parts) {
    for (const element of [arc, label, word]) element.classList.remove("later", "removed", "on-stack");
  }
}
