#!/usr/bin/env python3
"""Lists the libraries that are linked into packages.

usage: tests/release/notices.py [--sbom] MANIFEST PACKAGE...

Prints the notices that go with binaries of these packages of a workspace, or with `--sbom` a bill of materials, CycloneDX in JSON.
The notices of the Python package are in its folder, and `tests/test_package.py` there fails if a library is missing.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

#: The beginnings of the names of files with licences and notices.
NAMES = ("license", "licence", "copying", "copyright", "notice", "unlicense")

HEADER = """Binaries of herringbone contain the libraries below, under the licences that follow. Herringbone itself is under the
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


def linked(manifest, names):
    """Return the packages by other authors which the named packages link on any platform."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", manifest]
    data = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    members = {packages[identity]["name"]: identity for identity in data["workspace_members"]}
    found, rest = set(), [members[name] for name in names]
    while rest:
        identity = rest.pop()
        if identity in found:
            continue
        found.add(identity)
        for dependency in nodes[identity]["deps"]:
            is_macro = any(kind == "proc-macro" for target in packages[dependency["pkg"]]["targets"] for kind in target["kind"])
            if not is_macro and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                rest.append(dependency["pkg"])
    outside = (packages[identity] for identity in found if packages[identity]["source"])
    return sorted(outside, key=lambda package: (package["name"], package["version"]))


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


def bill_of_materials(packages):
    """Return the packages as a document of CycloneDX 1.6."""
    components = [
        {
            "type": "library",
            "name": package["name"],
            "version": package["version"],
            "purl": f"pkg:cargo/{package['name']}@{package['version']}",
            **({"licenses": [{"expression": re.sub(" */ *", " OR ", package["license"])}]} if package["license"] else {}),
        }
        for package in packages
    ]
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}


def print_notices(packages):
    """Print the list of the packages, and each text once."""
    owners = collections.defaultdict(list)
    written = {}
    print(HEADER)
    for package in packages:
        name = f"{package['name']} {package['version']}"
        print(f"- {name} ({package['license'] or package['license_file']}) {package['repository'] or ''}".rstrip())
        own = [*map(shortened, texts(package))]
        if package["name"] in ADDED:
            own.append(ADDED[package["name"]])
        elif not own and package["license"] == "MIT":
            own.append(f"Copyright (c) {', '.join(package['authors']) or 'the authors of ' + package['name']}\n\n{MIT}")
        for text in own:
            key = "".join(text.lower().split())
            written.setdefault(key, text)
            owners[key].append(name)
    for key, names in owners.items():
        print(f"\n{'=' * 80}\n{', '.join(dict.fromkeys(names))}\n{'=' * 80}\n\n{written[key]}")


def main(arguments):
    is_bill = "--sbom" in arguments
    manifest, *names = [argument for argument in arguments if argument != "--sbom"]
    packages = linked(manifest, names)
    if is_bill:
        print(json.dumps(bill_of_materials(packages), indent=1))
    else:
        print_notices(packages)


if __name__ == "__main__":
    main(sys.argv[1:])
