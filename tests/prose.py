#!/usr/bin/env python3
"""Counts habits of language in comments and documents, and fails if a count is higher than its ceiling, or if a doc
comment starts with a word that ties it to another comment.

usage: tests/prose.py [--update]

The ceilings are in tests/prose.txt. `--update` lowers them to the counts, and raises none. CONTRIBUTING.md has the rules.
"""

import collections
import os
import re
import sys

PATTERNS = {
    "what as a noun": r"\bwhat (is|was|it|are|has|had|does|they|a |the |rows|values|we)\b",
    "nobody, somebody": r"\b(nobody|somebody)\b",
    "so many, as many as": r"\bso many\b|\bas many as\b",
    "behind": r"\bbehind\b",
    "of which, of whom": r"\bof which\b|\bof whom\b",
    "beside": r"\bbeside\b",
    "as far as": r"\bas far as\b",
    "that is/are/was/has": r"\bthat (is|are|was|were|have|has)\b",
    "comes, goes": r"\b(comes|goes|come|go)\b",
    "one a page, once a file": r"\b(a|an|one|once) (page|column|row|value|batch|thread|file|chunk|row group|leaf)\b, | one a ",
    "tells": r"\b(tells|told|tell)\b",
    "says": r"\bsays?\b",
    "is no X": r"\bis no (?!longer|more|such)\w+",
    "where for if": r"\bwhere (it|they|there|that|this|one|a|the|no|all|some|nothing) ?\w* (is|are|has|have|does|do|may|can)\b",
}
# A doc comment (`///` or `//!`) has to be understood alone, and starts with a verb or a noun. There is no ceiling: none may
# start with one of these words.
DEPENDENT = r"(The same|As|Of|With|Those|What|Where|Who|Whether|How|Which)\b"

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CEILINGS = os.path.join(ROOT, "tests", "prose.txt")


def files():
    """The sources and documents, without what a build makes."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [it for it in folders if it not in ("target", "minit") and not it.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if name.endswith((".rs", ".md")))


def prose(path):
    """The comments of a source, or the text of a document, line by line; and the first lines of doc comments."""
    is_code, last = False, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if path.endswith(".md"):
                if line.lstrip().startswith("```"):
                    is_code = not is_code
                elif not is_code:
                    yield line, False
                continue
            found = re.match(r"\s*.*?//([/!]?)\s?(.*)", line)
            doc = re.match(r"\s*//([/!])(?!/)", line)
            if found and (doc or not re.match(r'[^"]*"[^"]*//', line)):
                kind = doc and doc.group(1)
                yield found.group(2), bool(kind) and kind != last
                last = kind
            else:
                last = None


def count():
    counts, words, dependent = collections.Counter(), 0, []
    for path in files():
        for text, starts_doc in prose(path):
            if starts_doc and re.match(DEPENDENT, text):
                dependent.append(f"{os.path.relpath(path, ROOT)}: {text}")
            words += len(text.split())
            for name, pattern in PATTERNS.items():
                counts[name] += len(re.findall(pattern, text, re.IGNORECASE))
    return counts, words, dependent


def main():
    counts, words, dependent = count()
    names = list(PATTERNS)
    ceilings = {}
    if os.path.exists(CEILINGS):
        with open(CEILINGS, encoding="utf-8") as lines:
            for line in lines:
                name, ceiling = line.rsplit(maxsplit=1)
                ceilings[name.strip()] = int(ceiling)
    higher = [name for name in names if counts[name] > ceilings.get(name, sys.maxsize)]
    for name in names:
        rate = 1e4 * counts[name] / max(words, 1)
        print(f"{name:36} {counts[name]:6} {rate:7.1f} per 10,000 words, ceiling {ceilings.get(name, '-')}")
    for line in dependent:
        print(f"doc comment that depends on others: {line}")
    if "--update" in sys.argv:
        with open(CEILINGS, "w", encoding="utf-8") as out:
            for name in names:
                print(f"{name:36} {min(counts[name], ceilings.get(name, counts[name]))}", file=out)
    elif higher:
        sys.exit(f"more than the ceiling: {', '.join(higher)}. Say it in plain English: CONTRIBUTING.md has the rules.")
    if dependent:
        sys.exit("doc comments must be understood alone: CONTRIBUTING.md has the rules.")


if __name__ == "__main__":
    main()
