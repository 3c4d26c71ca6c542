#!/usr/bin/env python3
"""Makes the documentation site: the page of `build.sh` in front, and the guides of docs/ as a book behind it.

usage: integrations/web/site.py SITE

SITE is a folder that build.sh has made, such as target/web/site. It gets the folder `guide`, and its page a link to it. Each chapter is a
page of docs/, in the order of docs/README.md. Links that leave docs/ lead to the repository, and a link to a page or a heading
that does not exist is an error. The book is built by mdBook: cargo install --locked mdbook.
"""
import html.parser
import re
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CHAPTER = re.compile(r"^\| \[[^\]]+\]\(([a-z-]+\.md)\) \|", re.M)
GUIDES = "<!-- The site has a link to its guides here. -->"
BOOK = """\
[book]
title = "Herringbone"
language = "en"
[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
[output.html.playground]
runnable = false
"""


def repository():
    """Returns the repository's address, which Cargo.toml has."""
    return re.search(r'^repository = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def moved(text, address):
    """Returns a page whose links out of docs/ lead to the repository."""

    def link(match):
        target, _, heading = match[2].partition("#")
        if not target.startswith("../"):
            return match[0]
        path = (DOCS / target).resolve()
        if not path.exists():
            sys.exit(f"{match[2]}: no such file")
        kind = "tree" if path.is_dir() else "blob"
        return f"{match[1]}{address}/{kind}/main/{path.relative_to(ROOT)}{'#' + heading if heading else ''}{match[3]}"

    return LINK.sub(link, text)


def title(page):
    """Returns a page's first heading."""
    return re.search(r"^# (.*)$", page, re.M)[1]


class Names(html.parser.HTMLParser):
    """The links of a page, and the names that links can lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.add(values.get("id"))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


def check(folder):
    """Fails if a link within the folder leads nowhere."""
    pages = {path: Names(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    count = 0
    for path, page in pages.items():
        # These two show other pages in another place.
        if path.name in ("print.html", "toc.html", "404.html"):
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme:
                continue
            count += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                sys.exit(f"{path.name}: {link} leads to no file")
            if parts.fragment and target in pages and parts.fragment not in pages[target].names:
                sys.exit(f"{path.name}: {link} leads to no heading")
    return count


def main(site):
    index = site / "index.html"
    page = index.read_text(encoding="utf-8")
    if GUIDES not in page:
        sys.exit(f"{index} has no place for the link to the guides")
    address = repository()
    first = (DOCS / "README.md").read_text(encoding="utf-8")
    chapters = CHAPTER.findall(first)
    left_out = {path.name for path in DOCS.glob("*.md")} - {*chapters, "README.md"}
    if left_out:
        sys.exit(f"docs/README.md does not list {', '.join(sorted(left_out))}")
    with tempfile.TemporaryDirectory() as book:
        source = Path(book, "src")
        source.mkdir()
        Path(book, "book.toml").write_text(BOOK, encoding="utf-8")
        summary = ["[Guides](README.md)"]
        (source / "README.md").write_text(moved(first, address), encoding="utf-8")
        for name in chapters:
            text = (DOCS / name).read_text(encoding="utf-8")
            summary.append(f"- [{title(text)}]({name})")
            (source / name).write_text(moved(text, address), encoding="utf-8")
        (source / "SUMMARY.md").write_text("\n".join(summary) + "\n", encoding="utf-8")
        subprocess.run(["mdbook", "build", book, "--dest-dir", str((site / "guide").resolve())], check=True)
    index.write_text(page.replace(GUIDES, '<a href="guide/index.html">Guides</a>'), encoding="utf-8")
    print(f"{len(chapters) + 1} guides, {check(site)} links in the site")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
