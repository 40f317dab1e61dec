// The form sends itself, and its frame shows the answer; this adds the link that carries the text, and says what goes on.
// The text is behind the "#" of the address, which browsers keep to themselves.
"use strict";

const byId = (id) => document.getElementById(id);
const FIELDS = ["data", "input", "model", "second"];

function address() {
  const said = new URLSearchParams();
  for (const name of FIELDS) if (byId(name).value) said.set(name, byId(name).value);
  return `#${said}`;
}

// Fills in what the address says; whether there is something to parse.
function read() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of said) {
    const field = FIELDS.includes(name) && byId(name);
    if (field && (!field.options || [...field.options].some((option) => option.value === value))) field.value = value;
  }
  byId("link").href = address();
  return Boolean(said.get("data"));
}

for (const change of ["input", "change"]) {
  byId("form").addEventListener(change, () => {
    byId("link").href = address();
  });
}

byId("form").addEventListener("submit", (event) => {
  const download = event.submitter?.name; // after which no page is loaded into the frame, unless it fails
  byId("status").textContent = download ? "" : "Parsing …";
  if (download) return;
  history.replaceState(null, "", address());
});

byId("data").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("form").requestSubmit();
});

byId("trees").addEventListener("load", () => {
  const shown = byId("trees").contentDocument;
  if (!shown) { // it is the browser's own page, about a connection that failed
    byId("status").textContent = "The server does not answer.";
    return byId("trees").contentWindow.location.replace("about:blank");
  }
  if (shown.URL === "about:blank") return;
  byId("status").textContent = shown.contentType === "text/plain" ? shown.body.textContent : "Parsed."; // text: what is wrong
});

window.addEventListener("hashchange", () => {
  if (read()) byId("form").requestSubmit();
});

if (read()) byId("form").requestSubmit();
