"""The pages of the documentation load nothing from the network: one can read them anywhere."""

import re
from html.parser import HTMLParser

import built
from built import PAGES, SITE

FAR = re.compile(r"([a-z]+:)?//", re.I)
IN_CSS = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s]+)""")


class Loads(HTMLParser):
    """The addresses from which a page loads something. Links are not among them."""

    def __init__(self, text):
        super().__init__()
        self.addresses = []
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.in_style = tag == "style"
        for name, value in attributes:
            if name in ("src", "srcset", "data", "poster") or (name.endswith("href") and tag != "a"):
                self.addresses.append(value)
            elif name == "style":
                self.addresses += IN_CSS.findall(value)

    def handle_endtag(self, tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.addresses += IN_CSS.findall(data)


def far(addresses):
    return [address for address in addresses if FAR.match(address)]


def test_what_a_page_loads_is_found():
    page = """<link href="//a.b/c.css"><script src="https://d.e/f.js"></script><style>@import "g.css"; p { background: url(http://h/i) }
        </style><p style="background: url('HTTPS://j')"><a href="https://k">url(https://l)</a><svg><use xlink:href="#m"/></svg>"""
    found = Loads(page).addresses
    assert found == ["//a.b/c.css", "https://d.e/f.js", "g.css", "http://h/i", "HTTPS://j", "#m"]
    assert far(found) == ["//a.b/c.css", "https://d.e/f.js", "http://h/i", "HTTPS://j"]


@built.needed
def test_nothing_is_loaded_from_the_network():
    for page in PAGES:
        assert far(Loads((SITE / page).read_text(encoding="utf-8")).addresses) == [], page
    for path in SITE.rglob("*.css"):
        assert far(IN_CSS.findall(path.read_text(encoding="utf-8"))) == [], path
