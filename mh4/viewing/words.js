// Moves from word to word with the pointer, or with keys while the box has the focus. A description is beside the word.
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
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const m = event.key === "Escape" ? -1 : Math.min(Math.max(to, 0), parts.length - 1);
    if (m >= 0) parts[m].word.scrollIntoView({ block: "nearest", inline: "nearest" });
    look(m);
  });
}

let pointedAt = null; // the element that the tooltip describes

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
