"""What the programs of all writers in Python share: which files they make, and the list of them."""

import json
import sys
import time
from pathlib import Path

import tables


class Writer:
    """Writes each table with options in turn, and lists the files in `index.jsonl`.

    `write(path, names, rows, options)` writes the file, or raises an error if the writer does not know a kind or an option. The option
    `without` names kinds that it does not know together with the others. `structs_of_nulls` is true for writers that have no structs that are null.
    """

    def __init__(self, write, options, kinds, structs_of_nulls=False):
        self.folder = Path(sys.argv[1])
        self.write = write
        self.all_options = options
        self.structs_of_nulls = structs_of_nulls
        self.left_out = {}
        self.kinds = tuple(self.known(kinds))
        self.options = self.known_options()

    def known(self, kinds):
        for kind in kinds:
            try:
                self.write(self.folder / "probe.parquet", [f"{kind}_{nulls}" for nulls in tables.NULLS], 9, {})
                yield kind
            except BaseException as error:
                self.left_out[kind] = " ".join(f"{type(error).__name__}: {error}".split())[:200]

    def known_options(self):
        known = []
        for options in self.all_options:
            try:
                self.write(self.folder / "probe.parquet", [f"{self.kinds[0]}_few"], 9, without_kinds(options))
                known.append(options)
            except BaseException as error:
                self.left_out[json.dumps(options)] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        (self.folder / "probe.parquet").unlink(missing_ok=True)
        return known

    def run(self):
        started = time.time()
        with open(self.folder / "index.jsonl", "w") as index:
            for shape, rows in tables.tables():
                chosen = self.options[: 1 if tables.only_first(shape) else 2 if shape == "large" else None]
                for at, options in enumerate(chosen):
                    kinds = [kind for kind in self.kinds if kind not in options.get("without", ())]
                    names = tables.columns(shape, kinds)
                    if names:
                        self.one(index, f"{shape}-{rows}-{at}.parquet", names, rows, without_kinds(options))
        left_out = {"left_out": self.left_out, "seconds": round(time.time() - started, 1)}
        (self.folder / "left_out.json").write_text(json.dumps(left_out))

    def one(self, index, name, names, rows, options):
        try:
            self.write(self.folder / name, names, rows, options)
        except BaseException as error:
            self.left_out[name] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            return
        line = {"file": name, "rows": rows, "columns": names, "options": options, "structs_of_nulls": self.structs_of_nulls}
        print(json.dumps(line), file=index)


def without_kinds(options):
    return {name: value for name, value in options.items() if name != "without"}
