// Keeps the search and the sentence at the top of the window in the page's address, after "#", for links to this view.

function address(number) {
  const said = new URLSearchParams();
  if (searched()) said.set("q", searched());
  if (byId("differing").checked) said.set("differing", "1");
  if (number) said.set("s", number);
  return `#${said}`;
}

// The address leaves out the first sentence found, as the page opens there anyway.
function writeAddress() {
  const article = current(), first = !article || article.index === matches[0][0];
  const said = address(first ? 0 : article.index + 1);
  const now = location.hash || "#";
  if (said !== now) history.replaceState(null, "", said);
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  byId("query").value = said.get("q") || "";
  byId("differing").checked = said.has("differing") && DATA.names.length > 1;
  const number = Number(said.get("s")); // before update writes another
  update();
  goTo(number);
}

let waiting = 0;
function writeAddressSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(writeAddress, 200); // some browsers limit how often it can be written
}

window.addEventListener("hashchange", readAddress);
window.addEventListener("scroll", writeAddressSoon, { passive: true });
