#!/usr/bin/env python3
"""Counts habits of language in comments and documents, and compares them with well-written Rust crates.

It fails if an old habit is back, or if a doc comment starts with a word that ties it to another comment. All other counts
are a report: a text is judged by reading it. CONTRIBUTING.md has the rules.
"""

import collections
import os
import re
import sys

# Each habit: its pattern, the range of memchr, jiff, ripgrep and others per 10,000 words, and a limit for old habits.
HABITS = {
    "of": (r"\bof\b", "141 to 289", None),
    "of … of": (r"\bof\b(?: \w+){1,3} of\b", "2 to 18", None),
    "this": (r"\bthis\b", "130 to 285", None),
    "you, we": (r"\b(you|your|we|our)\b", "58 to 185", None),
    "because, so that": (r"\b(because|so that)\b", "", None),
    "that is/are/was/has": (r"\bthat (is|are|was|were|have|has)\b", "to 20", None),
    "comes, goes": (r"\b(comes|goes|come|go)\b", "to 7", None),
    "is no X": (r"\bis no (?!longer|more|such)\w+", "", None),
    "those of, that of": (r"\b(those|that) of\b", "0", 4.5),
    "what as a noun": (r"\bwhat (is|was|it|are|has|had|does|they|a |the |rows|values|we)\b", "to 2", 0.5),
    "nobody, somebody": (r"\b(nobody|somebody)\b", "0", 0.2),
    "so many, as many as": (r"\bso many\b|\bas many as\b", "0", 0.4),
    "behind": (r"\bbehind\b", "to 1", 0.4),
    "of which, of whom": (r"\bof which\b|\bof whom\b", "to 2", 0.4),
    "beside": (r"\bbeside\b", "0", 0.2),
    "one a page, once a file": (
        r"\b(one|once) an? (page|column|row|value|batch|thread|file|chunk|row group|leaf)\b| one an? ", "to 2", 0.3),
    "tells": (r"\b(tells|told|tell)\b", "to 0.4", 0.8),
    "says": (r"\bsays?\b", "to 0.6", 0.4),
    "where for if": (
        r"\bwhere (it|they|there|that|this|one|a|the|no|all|some|nothing) ?\w* (is|are|has|have|does|do|may|can)\b",
        "", 0.4),
}
# A doc comment (`///` or `//!`) has to be understood alone, so none may start with one of these words.
DEPENDENT = r"(The same|As|Of|With|Those|What|Where|Who|Whether|How|Which)\b"

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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
    counts, words, sentences, dependent = collections.Counter(), 0, 0, []
    for path in files():
        for text, starts_doc in prose(path):
            if starts_doc and re.match(DEPENDENT, text):
                dependent.append(f"{os.path.relpath(path, ROOT)}: {text}")
            words += len(text.split())
            sentences += len(re.findall(r"[a-z0-9`)\"][.!?:](?=\s|$)", text))
            for name, (pattern, _, _) in HABITS.items():
                counts[name] += len(re.findall(pattern, text, re.IGNORECASE))
    return counts, words, sentences, dependent


def main():
    counts, words, sentences, dependent = count()
    higher = []
    print(f"{'per 10,000 words':26} {'here':>7}  {'others':12} limit")
    for name, (_, others, limit) in HABITS.items():
        rate = 1e4 * counts[name] / max(words, 1)
        print(f"{name:26} {rate:7.1f}  {others:12} {limit if limit is not None else '-'}")
        if limit is not None and rate > limit:
            higher.append(name)
    print(f"{'words per sentence':26} {words / max(sentences, 1):7.1f}  14 to 20")
    for line in dependent:
        print(f"doc comment that depends on others: {line}")
    if higher:
        sys.exit(f"more than the limit: {', '.join(higher)}. CONTRIBUTING.md has the rules.")
    if dependent:
        sys.exit("doc comments must be understood alone: CONTRIBUTING.md has the rules.")


if __name__ == "__main__":
    main()
