#!/usr/bin/env python3
"""Writes the notices of the libraries that the wheel contains: notices.py > THIRD_PARTY_NOTICES.

`tests/test_package.py` fails if the file lacks a library.
"""

import collections
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
#: The beginnings of the names of files with licences and notices.
NAMES = ("license", "licence", "copying", "copyright", "notice", "unlicense")

HEADER = """The wheels of herringbone contain the libraries below, under the licences that follow. Herringbone itself is under the
Apache License 2.0: see LICENSE.
"""


MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify,
merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""

#: Licences of sources that a package contains without their text.
ADDED = {"brotlic-sys": f"Copyright (c) 2009, 2010, 2013-2016 by the Brotli Authors.\n\n{MIT}"}


def linked():
    """Return the packages that are compiled into the extension module on any platform, apart from those of this repository."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", str(HERE / "Cargo.toml")]
    data = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    found, rest = set(), [data["resolve"]["root"]]
    while rest:
        identity = rest.pop()
        if identity in found:
            continue
        found.add(identity)
        for dependency in nodes[identity]["deps"]:
            is_macro = any(kind == "proc-macro" for target in packages[dependency["pkg"]]["targets"] for kind in target["kind"])
            if not is_macro and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                rest.append(dependency["pkg"])
    return sorted((packages[identity] for identity in found if packages[identity]["source"]), key=lambda it: (it["name"], it["version"]))


def texts(package):
    """Yield the texts of licences and notices in the sources of a package. Some contain sources of C."""
    folder = pathlib.Path(package["manifest_path"]).parent
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or not file.name.lower().startswith(NAMES) or file.suffix in (".rs", ".py", ".c", ".h"):
            continue
        text = file.read_text(errors="replace").strip()
        # Zstandard is used under its BSD licence, and not under the GPL, which it offers as well.
        if "GNU GENERAL PUBLIC LICENSE" not in text.upper() and len(text) > 100:
            yield "\n".join(line.rstrip() for line in text.split("\n"))


def shortened(text):
    """Return the copyrights in the Apache License, whose text is that of LICENSE, and any other text as it is."""
    if "Version 2.0, January 2004" not in text or "MIT" in text or len(text) > 15_000:
        return text
    lines = [line.strip() for line in text.split("\n")]
    owners = [line for line in lines if line.startswith("Copyright ") and "[" not in line and "{" not in line]
    return "\n".join(["Apache License, Version 2.0: the text is that of LICENSE.", *owners])


def main():
    owners = collections.defaultdict(list)
    written = {}
    print(HEADER)
    for package in linked():
        name = f"{package['name']} {package['version']}"
        print(f"- {name} ({package['license'] or package['license_file']}) {package['repository'] or ''}".rstrip())
        added = [ADDED[package["name"]]] if package["name"] in ADDED else []
        for text in [*map(shortened, texts(package)), *added]:
            key = "".join(text.lower().split())
            written.setdefault(key, text)
            owners[key].append(name)
    for key, names in owners.items():
        print(f"\n{'=' * 80}\n{', '.join(dict.fromkeys(names))}\n{'=' * 80}\n\n{written[key]}")


if __name__ == "__main__":
    main()
