"""Reads files at URLs with the Python package: remote_door.py

Standard input has lines of a length and a URL. Each is answered by a line: `rows COUNT SUM`, with the sum of the column `id`, or
the kind of the error and its message.
"""

import sys

import herringbone as hb


def answer(url):
    """Returns the line that answers a read."""
    try:
        ids = hb.read_table(url).to_pydict()["id"]
    except hb.ParquetError as error:
        return f"{error.kind} {error}"
    except OSError as error:
        return f"io {error}"
    return f"rows {len(ids)} {sum(ids)}"


for line in sys.stdin:
    print(answer(line.rstrip("\n").partition(" ")[2]).replace("\n", " "), flush=True)
