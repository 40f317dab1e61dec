// The browser submits the form and shows the answer in a frame. This script updates the status and the link, in which
// the text follows "#": browsers do not send that part to a server.
"use strict";

const byId = (id) => document.getElementById(id);
const FIELDS = ["data", "input", "model", "second"];

function address() {
  const said = new URLSearchParams();
  for (const name of FIELDS) if (byId(name).value) said.set(name, byId(name).value);
  return `#${said}`;
}

// Fill in the form from the address. Return whether there is text to parse.
function read() {
  const said = new URLSearchParams(location.hash.slice(1));
  if (said.has("data")) byId("second").value = ""; // addresses leave out what is empty
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
  const download = event.submitter?.name; // a download loads no page into the frame, unless it fails
  byId("status").textContent = download ? "" : "Parsing …";
  if (download) return;
  history.replaceState(null, "", address());
});

byId("data").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("form").requestSubmit();
});

byId("trees").addEventListener("load", () => {
  const shown = byId("trees").contentDocument;
  if (!shown) { // the frame shows the browser's own page for a failed connection
    byId("status").textContent = "The server does not answer.";
    return byId("trees").contentWindow.location.replace("about:blank");
  }
  if (shown.URL === "about:blank") return;
  byId("status").textContent = shown.contentType === "text/plain" ? shown.body.textContent : "Parsed."; // text: error
});

window.addEventListener("hashchange", () => {
  if (read()) byId("form").requestSubmit();
});

if (read()) byId("form").requestSubmit();
