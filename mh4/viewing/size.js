// Sets the size of trees: they fit the width of the window if they remain legible, or have a factor that the reader
// chooses. The trees of a sentence scroll together, and labels slide along their arcs to remain in view.

const FACTORS = [0.5, 0.6, 0.75, 1, 1.25, 1.5, 2];
const legible = () => (window.innerWidth < 640 ? 11 : 9) / DATA.layout.wordSize; // words of 9 pixels, of 11 on a telephone
let factor = null; // null: fit to width

function addSize(box, drawing) {
  box.drawing = drawing;
  setSize(box);
  box.addEventListener("scroll", () => {
    slideLabels(box);
    for (const other of box.closest("article").querySelectorAll(".tree")) {
      if (other.scrollLeft !== box.scrollLeft) other.scrollLeft = box.scrollLeft;
    }
  });
}

function setSize(box) {
  const { picture, tree } = box.drawing;
  const scrolled = box.scrollLeft / Math.max(1, box.scrollWidth - box.clientWidth); // the share, negative from right to left
  box.scale = factor ?? Math.min(1, Math.max(legible(), box.clientWidth / tree.width));
  picture.setAttribute("width", Math.floor(tree.width * box.scale));
  picture.setAttribute("height", Math.ceil(tree.height * box.scale));
  box.scrollLeft = scrolled * (box.scrollWidth - box.clientWidth);
  slideLabels(box);
}

function slideLabels(box) {
  const { picture, tree, parts } = box.drawing;
  const edge = picture.getBoundingClientRect().left, seen = box.getBoundingClientRect();
  const [left, right] = [(seen.left - edge) / box.scale, (seen.right - edge) / box.scale];
  parts.forEach(({ label }, m) => {
    const ends = [tree.from[m], tree.to[m]], middle = (ends[0] + ends[1]) / 2;
    const from = Math.max(left, Math.min(...ends)), to = Math.min(right, Math.max(...ends));
    let x = middle;
    if (ends[0] !== ends[1] && from < to && (middle < left + 60 || middle > right - 60)) {
      const half = label.getComputedTextLength() / 2 + 8;
      if (to - from > 2 * half) x = Math.min(Math.max(middle, from + half), to - half);
    }
    if (Number(label.getAttribute("x")) !== x) label.setAttribute("x", x);
  });
}

// Sets all sizes again. The sentence at the top of the window stays there.
function setSizes() {
  document.documentElement.style.scrollPaddingTop = `${getComputedStyle(byId("header")).position === "sticky" ? byId("header").offsetHeight + 4 : 0}px`;
  const article = current(), top = article?.getBoundingClientRect().top;
  document.querySelectorAll(".tree").forEach(setSize);
  if (article && window.scrollY > 0) window.scrollBy(0, article.getBoundingClientRect().top - top);
  byId("fit").setAttribute("aria-pressed", String(factor === null));
  byId("size").textContent = factor === null ? "" : `${Math.round(100 * factor)} %`;
  byId("smaller").disabled = factor === FACTORS[0];
  byId("larger").disabled = factor === FACTORS.at(-1);
}

function followSize() {
  const scale = () => factor ?? document.querySelector(".tree")?.scale ?? 1;
  const change = (to) => {
    factor = to;
    setSizes();
  };
  byId("smaller").addEventListener("click", () => change(FACTORS.findLast((each) => each < scale()) ?? FACTORS[0]));
  byId("larger").addEventListener("click", () => change(FACTORS.find((each) => each > scale()) ?? FACTORS.at(-1)));
  byId("fit").addEventListener("click", () => change(null));
  window.addEventListener("resize", setSizes);
  setSizes();
}
