"""Lets versions of writers write the same tables, and compares what the command reads with what the tables contain.

    python tests/writers/matrix.py [--all] [--only NAME] [--seconds N]

HB names the command. Versions are listed in `peers.txt`; each is installed in a folder of its own below `target/writers/peers`,
and writes below `target/writers/files` in one process. Both are kept until the version or the programs change. Per writer, it
prints the number of files that were read right, refused and wrong.

Versions of the crate `parquet` are programs that cargo builds. They share one target folder, and take their tables from pyarrow.
"""

import argparse
import concurrent.futures as futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import tables  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
FOLDER = TARGET / "writers"
COMMAND = os.environ.get("HB", str(TARGET / "debug" / "herringbone"))
STARTED = time.time()
PROGRAM = HERE / "parquet.rs"


# What `verify` rightly finds, because these versions write it: writer, kind and message of the finding, and the cause.
MISTAKES = [
    ("pyarrow 9", "statistics", "null_count", "pages also count the nulls of the pages before"),
    ("pyarrow 9|hyparquet-writer 0.10", "page_header", "num_rows", "it is the number of levels in lists"),
    ("pyarrow (12|15|18|21|24)", "page_header", "num_nulls", "empty lists are not counted"),
    ("pyarrow (15|18|21|24)", "statistics", "null_count", "empty lists are not counted"),
    ("duckdb 1.5", "statistics", "null_count", "structs in lists that are null are counted twice"),
    ("polars 0.18", "page_header", "num_nulls", "empty lists are not counted"),
    ("polars 0.20", "statistics|column_index", "m(in|ax)_value", "bounds of unsigned integers are in signed order"),
    ("polars 1", "statistics|column_index", "m(in|ax)_value", "bounds of decimals are in the order of their last bytes"),
    ("polars 2.0", "column_index", "null_pages claims values", "pages of nulls are not marked"),
    ("@dsnp/parquetjs 1.0.0", "column_index", "null_pages is missing", "column indexes have no null_pages"),
    ("parquet(-wasm)? ", "column_index", "null_pages claims only nulls", "rows of lists may have several nulls, and values"),
    ("parquet (30|40)", "offset_index", "the page starts inside of a row", "pages of lists end anywhere"),
]


class Skipped(Exception):
    """A writer that cannot be had here."""


class Peer:
    def __init__(self, line):
        words = line.split()
        self.later = words[0] == "later"
        self.name, self.version, self.runtime, *self.more = words[self.later:]
        self.label = f"{self.name} {self.version}"
        folder = f"{self.name.replace('@', '').replace('/', '-')}-{self.version}"
        self.folder = FOLDER / "peers" / folder
        self.files = FOLDER / "files" / folder
        self.line = line
        self.is_crate = self.name == "parquet"

    def python(self):
        name = f"python{self.runtime}"
        pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        for path in (shutil.which(name), *sorted(pyenv.glob(f"{self.runtime}.*/bin/python"))):
            # A shim of pyenv is found, too, and fails if its version is not chosen.
            if path and subprocess.run([path, "--version"], capture_output=True).returncode == 0:
                return str(path)
        raise Skipped(f"there is no {name}")

    def install(self):
        stamp = self.folder / "installed.txt"
        made_of = self.line + (self.manifest() + PROGRAM.read_text() if self.is_crate else "")
        if stamp.exists() and stamp.read_text() == made_of:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if self.is_crate:
            done = self.build()
        elif self.runtime == "node":
            if not shutil.which("npm"):
                raise Skipped("there is no npm")
            install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", self.folder]
            done = run([*install, f"{self.name}@{self.version}", *self.more])
        else:
            install = ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--no-compile", "--target", self.folder]
            done = run([self.python(), *install, f"{self.name}=={self.version}", *self.more])
        if done.returncode != 0:
            raise Skipped("it does not install: " + last_line(done.stderr))
        stamp.write_text(made_of)

    def crate(self):
        """The name of the program's crate. The target folder has one for each version."""
        return self.folder.name.replace(".", "-")

    def manifest(self):
        """The manifest of the program. Zstandard is the default codec of our files."""
        of_version = f"version = '={self.version}', default-features = false, features"
        major = self.version.split(".")[0]
        lines = ["[workspace]", "[package]", f"name = '{self.crate()}'", "version = '0.0.0'", "edition = '2021'"]
        lines += ["[features]", f"default = ['v{major}']", *(f"v{n} = []" for n in (20, 30, 40, 50, 56, 60))]
        lines += ["[profile.dev]", "debug = false", "[dependencies]", f"arrow = {{ {of_version} = ['ipc'] }}"]
        lines.append(f"parquet = {{ {of_version} = ['arrow', 'snap', 'zstd'] }}")
        lines += [f"{name} = '={version}'" for name, version in (word.split("@") for word in self.more)]
        return "\n".join(lines)

    def build(self):
        """Builds the program of a version, with one target folder for all of them, because they have dependencies in common."""
        (self.folder / "src").mkdir()
        shutil.copy(PROGRAM, self.folder / "src" / "main.rs")
        (self.folder / "Cargo.toml").write_text(self.manifest())
        if not shutil.which("cargo"):
            raise Skipped("there is no cargo")
        target = FOLDER / "cargo"
        build = ["cargo", "build", "--quiet", "--manifest-path", self.folder / "Cargo.toml", "--target-dir", target]
        done = run(build, env={**os.environ, "CARGO_INCREMENTAL": "0"})
        if done.returncode == 0:
            shutil.copy(target / "debug" / self.crate(), self.folder / "writer")
        return done

    def program(self):
        """The command that writes the files, and the files that decide them."""
        if self.runtime == "node":
            script = HERE / f"write_{self.name.split('/')[-1].replace('-', '_')}.mjs"
            return ["node", script], [script, HERE / "writer.mjs"]
        script = HERE / f"write_{self.name}.py"
        more = [PROGRAM, HERE / "write_pyarrow.py"] if self.is_crate else []
        return [self.python(), "-s", script], [script, HERE / "writer.py", *more]

    def environment(self):
        path = f"{PYARROW.folder if self.is_crate else self.folder}:{HERE}"
        mine = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "WRITER": str(self.folder), "WRITER_NAME": self.name}
        return {**os.environ, **mine}

    def write(self):
        command, sources = self.program()
        sources.append(HERE / "tables.py")
        digest = hashlib.sha256(self.line.encode() + b"".join(s.read_bytes() for s in sources)).hexdigest()
        stamp = self.files / "written.txt"
        if stamp.exists() and stamp.read_text() == digest:
            return
        shutil.rmtree(self.files, ignore_errors=True)
        self.files.mkdir(parents=True)
        done = run([*command, self.files, FOLDER / "tables"], env=self.environment())
        if done.returncode != 0:
            raise Skipped("it fails to write: " + last_line(done.stderr))
        stamp.write_text(digest)

    def index(self):
        return [json.loads(line) for line in (self.files / "index.jsonl").read_text().splitlines()]


LINES = [line for line in (HERE / "peers.txt").read_text().splitlines() if not line.startswith("#")]
PYARROW = Peer([line for line in LINES if line.startswith("pyarrow ")][-1])


def write_tables():
    """The tables as JSON lines, for writers that are not Python."""
    folder = FOLDER / "tables"
    stamp, digest = folder / "written.txt", hashlib.sha256((HERE / "tables.py").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    folder.mkdir(parents=True, exist_ok=True)
    index = {"nulls": list(tables.NULLS), "tables": []}
    for shape, rows in tables.tables():
        names = tables.columns(shape)
        index["tables"].append({"shape": shape, "rows": rows, "columns": names, "first": tables.only_first(shape)})
        if shape == "nested":
            names = tables.columns("flat") + names
        if shape != "flat":
            path = folder / f"{'all' if shape == 'nested' else shape}-{rows}.jsonl"
            path.write_text(tables.json_lines(names, rows))
    (folder / "index.json").write_text(json.dumps(index))
    stamp.write_text(digest)


def run(command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else "without a message"


def plain(kind, value):
    """The value without its unit: fractions of seconds lose zeros, and a zone is not part of it."""
    if value is None:
        return None
    if kind in ("stamp_ms", "stamp_us", "stamp_ns", "instant", "time") and isinstance(value, str):
        text = value.removesuffix("Z")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if kind.startswith("decimal") and isinstance(value, str):
        return Decimal(value)
    return value


def compare(rows, file):
    """The first difference between JSON lines and the columns of a file."""
    names, count = file["columns"], file["rows"]
    expected = tables.table(names, count, file["structs_of_nulls"])
    rows = [json.loads(row) for row in rows]
    if len(rows) != count:
        return f"{len(rows)} rows, not {count}"
    if rows and list(rows[0]) != names:
        return f"columns {list(rows[0])}, not {names}"
    for name in names:
        kind, wanted = tables.kind_of(name), expected[name]
        found = [row[name] for row in rows]
        if found == wanted:
            continue
        for at, (a, b) in enumerate(zip(found, wanted)):
            if a != b and plain(kind, a) != plain(kind, b):
                return f"{name}, row {at}: {a!r}, not {b!r}"
    return None


def read(path, *options):
    done = run([COMMAND, "-q", "cat", "--format", "jsonl", "--threads", "1", *options, path])
    if done.returncode != 0:
        raise RuntimeError(last_line(done.stderr))
    return done.stdout.splitlines()


def literal(name, values):
    """A value of the column, and the condition that is true for it, for some of the columns."""
    kind = tables.kind_of(name)
    if kind in tables.NESTED or kind in ("bool", "binary", "instant", "float") or not values:
        return None
    value = values[len(values) // 2]
    if tables.nulls_of(name) in ("few", "none") and (len(values) + len(name)) % 3 == 0 and value is not None:
        if kind in ("text", "word", "category"):
            return value, f"= '{value}'"
        if kind.startswith("stamp"):
            return value, f"= timestamp '{value.replace('T', ' ')}'"
        if kind in ("date", "time"):
            return value, f"= {kind} '{value}'"
        return value, f"= {value}"
    if tables.nulls_of(name) == "runs" and len(name) % 4 == 0:
        return None, "is null"
    return None


def is_mistake(peer, finding):
    for writer, kind, message, _ in MISTAKES:
        if re.match(writer, peer.label) and re.fullmatch(kind, finding["kind"]) and re.search(message, finding["message"]):
            return True
    return False


def more(peer, path, file, out):
    """What other commands make of a file: a fault for each that is wrong."""
    names, count = file["columns"], file["rows"]
    expected = tables.table(names, count, file["structs_of_nulls"])
    for name in names:
        condition = literal(name, expected[name])
        if condition is None:
            continue
        value, text = condition
        wanted = sum(plain(tables.kind_of(name), v) == plain(tables.kind_of(name), value) for v in expected[name])
        done = run([COMMAND, "-q", "count", "-w", f'"{name}" {text}', path])
        if done.stdout.strip() != str(wanted):
            yield f"count -w '{name} {text}': {(done.stdout or last_line(done.stderr)).strip()}, not {wanted}"
    done = run([COMMAND, "-q", "stats", "--json", path])
    if done.returncode != 0:
        yield f"stats: {last_line(done.stderr)}"
    else:
        for line in map(json.loads, done.stdout.splitlines()):
            name = line["path"][0]
            # The nulls of what is in a list are others.
            if tables.kind_of(name) in tables.FLAT and line["null_count"] != sum(v is None for v in expected[name]):
                yield f"stats: {line['null_count']} nulls in {name}"
    done = run([COMMAND, "-q", "verify", "--json", path])
    errors = [line for line in map(json.loads, done.stdout.splitlines()) if line.get("severity") == "error"]
    errors = [finding for finding in errors if not is_mistake(peer, finding)]
    if errors or done.returncode not in (0, 1):
        yield f"verify: {errors[:1] or last_line(done.stderr)}"
    for verb in ("rewrite", "repair") if count else ("rewrite",):
        out.unlink(missing_ok=True)
        done = run([COMMAND, "-q", verb, path, out])
        if done.returncode != 0:
            yield f"{verb}: {last_line(done.stderr)}"
            continue
        difference = compare(read(out), file)
        if difference:
            yield f"{verb}: {difference}"
    out.unlink(missing_ok=True)


def check(peer):
    """Returns the peer, the counts of its files, and the faults."""
    refused, wrong, faults = 0, 0, []
    files = peer.index()
    out = peer.files / "out.parquet"
    for at, file in enumerate(files):
        path = peer.files / file["file"]
        place = f"{path.relative_to(FOLDER)} {json.dumps(file['options'])}"
        try:
            difference = compare(read(path), file)
        except RuntimeError as error:
            refused += 1
            faults.append(f"{place}: refused: {error}")
            continue
        found = [difference] if difference else []
        if at % 16 == 5 or file["rows"] == 256 and at % 4 == 0:
            found += more(peer, path, file, out)
        wrong += bool(found)
        faults += [f"{place}: {fault}" for fault in found]
    return len(files), refused, wrong, faults


def one(peer, limit):
    if time.time() - STARTED > limit:
        return peer, "there was no time left for it", None
    try:
        peer.install()
        peer.write()
    except Skipped as why:
        return peer, str(why), None
    if not peer.index():
        return peer, "it writes none of the tables: " + (peer.files / "left_out.json").read_text()[:300], None
    started = time.time()
    counts = check(peer)
    return peer, None, (*counts, time.time() - started)


# The types of the schema by which the command makes tables of JSON lines.
SCHEMA = {
    "bool": "boolean", **{f"int{n}": f"int{n}" for n in (8, 16, 32, 64)}, **{f"uint{n}": f"uint{n}" for n in (8, 16, 32, 64)},
    "digit": "int32", "float": "float32", "double": "float64", "text": "utf8", "word": "utf8", "category": "utf8", "binary": "binary",
    "date": "date32", "stamp_ms": "timestamp(ms)", "stamp_us": "timestamp(us)", "stamp_ns": "timestamp(ns)", "time": "time64(us)",
    "decimal_9_2": "decimal128(9, 2)", "decimal_18_4": "decimal128(18, 4)", "decimal_38_10": "decimal128(38, 10)",
    "list_int": "List\n  element: Int32", "list_text": "List\n  element: Utf8", "list_list": "List\n  element: List\n    element: Int32",
    "struct": "Struct\n  a: Int32\n  b: Utf8", "list_struct": "List\n  element: Struct\n    a: Int32\n    b: Utf8",
    "struct_list": "Struct\n  n: Int32\n  l: List\n    element: Int32",
}
# Kinds that the oldest version of a peer does not read from any writer.
UNREAD = {
    "duckdb": ("stamp_ns",),
    "pyspark": ("stamp_ns", "time"),
    "fastparquet": ("list_list", "list_struct", "struct_list", "struct", "list_int", "list_text", "time"),
}


def convert(kinds, folder):
    """Makes files of the tables by the command, with default options, and lists them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    index = []
    for shape, rows in tables.tables():
        names = [name for name in tables.columns(shape) if tables.kind_of(name) in kinds]
        if shape in tables.ALONE or not names:
            continue
        source, out = folder / "source.jsonl", folder / f"{shape}-{rows}.parquet"
        source.write_text(tables.json_lines(names, rows))
        schema = folder / "schema.txt"
        schema.write_text("".join(f"{name}: {SCHEMA[tables.kind_of(name)]}\n" for name in names))
        done = run([COMMAND, "-q", "convert", source, out, "--schema", schema])
        if done.returncode != 0:
            raise RuntimeError(f"convert to {out.name}: {last_line(done.stderr)}")
        index.append({"file": out.name, "rows": rows, "columns": names})
        source.unlink()
    (folder / "index.jsonl").write_text("".join(json.dumps(file) + "\n" for file in index))


def read_ours(peer):
    """What the peer does not read of the files that the command writes."""
    folder = FOLDER / "ours" / peer.folder.name
    convert([kind for kind in SCHEMA if kind not in UNREAD.get(peer.name, ())], folder)
    done = run([peer.python(), "-s", HERE / "ours.py", peer.name, folder], env=peer.environment())
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0:
        return [*found, ["", last_line(done.stderr)]]
    return found


def the_other_way(peers):
    """Lets the oldest version of each peer read ours, prints what it gets wrong, and returns True if there is something."""
    oldest = {}
    for peer in peers:
        if peer.runtime != "node":
            oldest.setdefault(peer.name, peer)
    # If time ended early, some are not installed.
    oldest = {name: peer for name, peer in oldest.items() if (peer.folder / "installed.txt").exists()}
    failed = False
    with futures.ProcessPoolExecutor(2) as pool:
        results = list(pool.map(read_ours, oldest.values()))
    for peer, found in zip(oldest.values(), results):
        faults = [f"{file}: {fault}" for file, fault in found if fault]
        print(f"{peer.label:<28}{len(found):>7} of ours, {len(found) - len(faults)} right")
        for fault in faults:
            print(f"    {fault}")
        failed = failed or bool(faults) or not found
    return failed


def in_turn(peers):
    """Returns the peers, from another one on for each commit. If time ends early, other peers are left out each time."""
    commits = run(["git", "-C", HERE, "rev-list", "--count", "HEAD"]).stdout.strip()
    first = int(commits or 0) % max(len(peers), 1)
    return peers[first:] + peers[:first]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="also the writers that take minutes to install")
    parser.add_argument("--only", help="writers whose name and version contain this text")
    parser.add_argument("--seconds", type=int, default=10**6, help="no writer starts after them")
    parser.add_argument("-v", action="store_true", help="also what a writer does not know")
    arguments = parser.parse_args()
    peers = [peer for peer in map(Peer, LINES) if arguments.only is None or arguments.only in peer.label]
    peers = [peer for peer in peers if arguments.all or not peer.later or (peer.folder / "installed.txt").exists()]
    write_tables()
    if any(peer.is_crate for peer in peers):
        # Before the peers start, because two at a time would install it twice.
        PYARROW.install()
    totals, failed = [0, 0, 0], False
    print(f"{'writer':<28}{'files':>7}{'right':>7}{'refused':>9}{'wrong':>7}")
    with futures.ProcessPoolExecutor(2) as pool:
        for peer, skipped, counts in pool.map(one, in_turn(peers), [arguments.seconds] * len(peers)):
            if skipped:
                print(f"{peer.label:<28}skipped: {skipped}")
                continue
            files, refused, wrong, faults, seconds = counts
            print(f"{peer.label:<28}{files:>7}{files - refused - wrong:>7}{refused:>9}{wrong:>7}   {seconds:.1f} s", flush=True)
            for fault in faults[: 1000 if arguments.v else 5]:
                print(f"    {fault}")
            if arguments.v:
                print("    it does not know", (peer.files / "left_out.json").read_text())
            totals = [a + b for a, b in zip(totals, (files, refused, wrong))]
            failed = failed or bool(faults)
    files, refused, wrong = totals
    print(f"{'in all':<28}{files:>7}{files - refused - wrong:>7}{refused:>9}{wrong:>7}   {time.time() - STARTED:.0f} s")
    failed = the_other_way(peers) or failed
    if failed or files == 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
