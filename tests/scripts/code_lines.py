#!/usr/bin/env python3
"""Counts the lines of code that the crates and packages consist of, by crate.

    tests/scripts/code_lines.py

A line counts if it has something other than white space and comments; comments of documentation and docstrings do not
count. Items with `#[cfg(test)]`, and tests, benchmarks, examples, fuzz targets, scripts and build output do not count
either. So a function moved to another file counts as before, and a deleted comment changes nothing.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {"tests", "benches", "bench", "examples", "fuzz", "target"}

# Comments, then texts: what looks like a comment or a brace in one of these is not.
RUST = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|\b[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)"""
    r"""|"(?:\\.|[^"\\])*\""""
    r"""|'(?:\\[^\n][^'\n]*|[^\\'\n])'""",
    re.DOTALL | re.VERBOSE,
)
TEST = re.compile(r"#\[cfg\(test\)\]")
MODULE = re.compile(r"\bmod\s+(\w+)\s*;$")


def without_comments(text: str) -> str:
    """Return Rust code of the same lines, without comments, and with texts of the letter `x` only."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"\S", "" if found["comment"] else "x", found[0])

    return RUST.sub(blank, text)


def end_of_item(code: str, start: int) -> int:
    """Return the position after the item that starts here: after its semicolon, or its last brace."""
    depth = 0
    for at in range(start, len(code)):
        depth += (code[at] in "{([") - (code[at] in "})]")
        if depth == 0 and code[at] in ";}":
            return at + 1
    return len(code)


def rust_lines(file: Path) -> tuple[int, set[Path]]:
    """Return the number of lines, and the files and folders of modules that only tests have."""
    code = without_comments(file.read_text())
    below = file.parent if file.stem in ("mod", "lib", "main") else file.with_suffix("")
    modules: set[Path] = set()
    while found := TEST.search(code):
        end = end_of_item(code, found.end())
        item = code[found.start() : end]
        if module := MODULE.search(item):
            modules |= {below / module[1], below / f"{module[1]}.rs"}
        code = code[: found.start()] + code[end:]
    return sum(1 for line in code.splitlines() if line.strip()), modules


def python_lines(file: Path) -> int:
    """Return the number of lines of a Python file."""
    text = file.read_text()
    lines: set[int] = set()
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in ignored:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def is_inside(file: Path, crate: Path) -> bool:
    return not OUTSIDE.intersection(file.relative_to(crate).parts)


def counts(crate: Path) -> tuple[int, int]:
    """Return the numbers of lines of Rust and of Python."""
    rust: dict[Path, int] = {}
    tests: set[Path] = set()
    for file in sorted(crate.rglob("*.rs")):
        if is_inside(file, crate):
            rust[file], modules = rust_lines(file)
            tests |= modules
    in_rust = sum(lines for file, lines in rust.items() if not tests.intersection([file, *file.parents]))
    package = crate / "python"
    return in_rust, sum(python_lines(file) for file in package.rglob("*.py") if is_inside(file, crate))


def main() -> None:
    crates = sorted(file.parent for place in ("crates", "integrations") for file in (ROOT / place).glob("*/Cargo.toml"))
    sums = [0, 0]
    print(f"{'':<24}{'Rust':>8}{'Python':>8}")
    for crate in crates:
        found = counts(crate)
        sums = [before + lines for before, lines in zip(sums, found)]
        print(f"{str(crate.relative_to(ROOT)):<24}{found[0]:>8}{found[1]:>8}")
    print(f"{'all':<24}{sums[0]:>8}{sums[1]:>8}   {sum(sums)} lines")


if __name__ == "__main__":
    main()
