#!/usr/bin/env python3
"""Inserts parts of the example programs into the documents, or checks that documents and programs agree.

usage: tests/docs.py [--check]

A document shows a part of a program after a line such as

    <!-- example: crates/herringbone/examples/reading.rs columns -->

The part is between the lines `// docs: columns` and `// docs: end` of the program. A part may be in several places, which
the document shows with a blank line between them. So each example is compiled and run, with its assertions, as a program of
its crate, and no document has lines that exist for a test only.

Paths in backticks have to exist: those from the root, such as `crates/text/src/lib.rs`, and sources below a folder that the
document names before, such as `lib.rs`. In `docs/from-parquet.md`, each name of ours has to be in a `public-api.txt`, and a
row with "—" must not name anything that is. The README has at most 120 lines, and ARCHITECTURE.md at most 3,500 words.
"""

import collections
import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = re.compile(r"\s*// docs: (\w+)$"), "// docs: end"
DOCTEST = re.compile(r'include_str!\("([^"]+\.md)"\)')
EXAMPLE = re.compile(r"<!-- example: (\S+) (\w+) -->\n(?:```rust\n.*?^```\n)?", re.M | re.S)
RUST = re.compile(r"^```rust.*?\n(.*?)^```$", re.M | re.S)
PATH = re.compile(r"`((?:crates|tests|testdata|benches|integrations|fuzz|docs|\.ci)/[^`\s]*|[^`\s*]+\.rs)`")
COMPARED = "docs/from-parquet.md"
CODE = re.compile(r"`([^`]+)`")
NAME = re.compile(r"[A-Za-z_]\w{2,}")
HIDDEN = re.compile(r"^\s*#(?: |$)", re.M)


def tracked(*patterns):
    """The files that git knows or would add, without those that a build makes."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in names if os.path.exists(os.path.join(ROOT, name))]


def text_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def parts_of(program):
    """The parts of a program by name, as a document shows them."""
    places, name, lines = collections.defaultdict(list), None, []
    for line in text_of(program).splitlines():
        if line.strip() == END:
            if name is None:
                raise SystemExit(f"{program}: `{END}` ends no part")
            places[name].append(textwrap.dedent("\n".join(lines)))
            name = None
        elif found := BEGIN.match(line):
            if name is not None:
                raise SystemExit(f"{program}: the part `{name}` has no `{END}` before the part `{found[1]}`")
            name, lines = found[1], []
        else:
            lines.append(line)
    if name is not None:
        raise SystemExit(f"{program}: the part `{name}` has no `{END}`")
    return {name: "\n\n".join(texts) for name, texts in places.items()}


def with_examples(document, text, programs, shown):
    """The text of a document with the parts that it names. The parts are added to those shown."""
    def example(found):
        program, part = found[1], found[2]
        if part not in programs.get(program, {}):
            raise SystemExit(f"{document}: `{program}` is not an example program with a part `{part}`")
        shown.add((program, part))
        return f"<!-- example: {program} {part} -->\n```rust\n{programs[program][part]}\n```\n"
    return EXAMPLE.sub(example, text)


def doctests():
    """The documents whose examples rustdoc compiles and runs."""
    for source in tracked("*/src/lib.rs"):
        folder = os.path.dirname(source)
        yield from (os.path.normpath(os.path.join(folder, path)) for path in DOCTEST.findall(text_of(source)))


def defects(document, text, is_doctest):
    """What a document must not have: lines that a code host shows and rustdoc hides, and examples that no build compiles."""
    if any(HIDDEN.search(block[1]) for block in RUST.finditer(text)):
        yield f"{document}: an example has lines that begin with `#`, which only rustdoc hides"
    shown, blocks = len(EXAMPLE.findall(text)), len(RUST.findall(text))
    if is_doctest and shown:
        yield f"{document}: it is compiled as a doctest, but shows parts of programs: remove its `include_str!`"
    if not is_doctest and shown < blocks:
        yield f"{document}: {blocks - shown} of its {blocks} examples are not parts of a program"


def spelled_out(path):
    """The paths of a pattern such as `{a,b}.rs`."""
    found = re.search(r"\{([^{}]*)\}", path)
    if not found:
        return [path]
    names = found[1].split(",")
    return [long for name in names for long in spelled_out(path[:found.start()] + name + path[found.end():])]


def lost_paths(text, known):
    """The paths in a text that no file or folder has. `NAME` and `*` stand for any name."""
    for pattern in sorted({path for found in PATH.finditer(text) for path in spelled_out(found[1])}):
        name = re.escape(pattern.rstrip("/")).replace("NAME", "[^/\n]+").replace(r"\*", "[^/\n]+")
        if not re.search(rf"^(.*/)?{name}(/|$)", known, re.M):
            yield pattern


def compared():
    """The names in the comparison with the `parquet` crate that our API lacks, or has although the row denies it."""
    lists = "\n".join(text_of(name) for name in tracked("crates/*/public-api.txt"))
    known = set(NAME.findall(lists)) | {"RecordBatchReader"}
    for line in text_of(COMPARED).splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "").split("|")][1:-1]
        if len(cells) != 2:
            continue
        if cells[1] == "—":
            names = {name for code in CODE.findall(cells[0]) for name in NAME.findall(code)}
            yield from (f"{COMPARED}: a row denies `{name}`, which exists" for name in sorted(names & known))
            continue
        for code in CODE.findall(cells[1]):
            # Texts and arguments are no names of ours, but `A::b(…)` and `.c()` are.
            called = re.sub(r'"[^"]*"|(?<=\()[a-z_, ]+(?=[,)])', "", code)
            yield from (f"{COMPARED}: no API has `{name}` of `{code}`" for name in NAME.findall(called) if name not in known)


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        raise SystemExit(__doc__)
    programs = {name: parts_of(name) for name in tracked("*.rs") if "/examples/" in name}
    doctested, shown, found = set(doctests()), set(), []
    known = "\n".join(tracked())
    for document in tracked("*.md"):
        text = text_of(document)
        wanted = with_examples(document, text, programs, shown)
        found += defects(document, wanted, document in doctested)
        if document != "CHANGELOG.md":
            found += [f"{document}: `{path}` does not exist" for path in lost_paths(wanted, known)]
        if text == wanted:
            continue
        if is_check:
            found.append(f"{document}: an example differs from its program: run tests/docs.py")
            continue
        with open(os.path.join(ROOT, document), "w", encoding="utf-8") as file:
            file.write(wanted)
        print(f"{document}: updated")
    found += compared()
    parts = {(program, part) for program, texts in programs.items() for part in texts}
    found += [f"{program}: no document shows the part `{part}`" for program, part in sorted(parts - shown)]
    lines, words = len(text_of("README.md").splitlines()), len(text_of("ARCHITECTURE.md").split())
    if lines > 120 or words > 3500:
        found.append(f"README.md has {lines} lines, and may have 120; ARCHITECTURE.md has {words} words, and may have 3,500")
    for line in found:
        print(line)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
