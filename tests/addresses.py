#!/usr/bin/env python3
"""Checks that `repository` in Cargo.toml is the only place that names the project's address on a code host.

usage: tests/addresses.py [--update]

The two files in DERIVED are shown outside the repository, so that they need whole addresses. These have to begin with that of
Cargo.toml, and `--update` makes them. All other files use relative links, or read Cargo.toml.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DERIVED = ("integrations/python/README.md", "integrations/python/pyproject.toml")
# A folder or repository `herringbone` of an owner at a host. Registries and their documentation have such paths, too.
ADDRESS = re.compile(
    r"(?:https?://|ssh://|git@)(?!docs\.rs|(?:static\.)?crates\.io|pypi\.org)[\w.@-]+[/:][\w.-]+/herringbone(?![\w-])(?:\.git\b)?"
)


def repository():
    """Returns the address in Cargo.toml."""
    return re.search(r'^repository = "(.+)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)


def update(address):
    """Puts the address in place of those in the derived files."""
    for name in DERIVED:
        path = ROOT / name
        path.write_text(ADDRESS.sub(address, path.read_text(encoding="utf-8")), encoding="utf-8")


def wrong(address):
    """Yields the lines that name another address, or name it outside the derived files."""
    owned = address.split("://")[-1].partition("/")[2]
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        path = ROOT / name
        if name == "Cargo.toml" or not path.is_file():
            continue
        for number, line in enumerate(path.read_bytes().decode("utf-8", errors="replace").split("\n"), 1):
            found = ADDRESS.findall(line)
            if name in DERIVED:
                if any(one != address for one in found):
                    yield f"{name}:{number}: {found}, and Cargo.toml has {address}: run tests/addresses.py --update"
            elif found or owned in line:
                yield f"{name}:{number}: {line.strip()[:120]}: use a relative link, or read `repository` of Cargo.toml"


def main():
    address = repository()
    if "--update" in sys.argv:
        update(address)
    lines = list(wrong(address))
    print("\n".join(lines) or f"one place names {address}")
    if lines:
        sys.exit(1)


if __name__ == "__main__":
    main()
