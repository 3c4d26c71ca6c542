#!/usr/bin/env bash
# Prints one table of this machine: twelve reads and six writes, against the `parquet` crate. If you have a machine that
# `benches/results/` does not show, such as an Arm server or a Mac, paste the table into an issue.
#
#     benches/report.sh [--rows 491520] [--seconds 2]
#
# The tables need Python 3, and pyarrow and numpy, which are installed in a virtual environment in the target folder. The build
# takes some minutes, and the rest about two.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=491520 seconds=2
while [ $# -gt 0 ]; do
    case "$1" in
        --rows) rows="$2" ;;
        --seconds) seconds="$2" ;;
        *) echo "$1: unknown; see the first lines of $0" >&2; exit 2 ;;
    esac
    shift 2
done

target="${CARGO_TARGET_DIR:-target}"
cargo build --quiet --profile bench -p herringbone-benches --bin read --bin write --bin kernels
tables="$target/bench-data/report-$rows"
if [ ! -d "$tables" ]; then
    [ -x "$target/bench-venv/bin/python" ] || python3 -m venv "$target/bench-venv"
    "$target/bench-venv/bin/pip" install --quiet pyarrow numpy
    "$target/bench-venv/bin/python" benches/tables.py --pages --rows "$rows" "$tables.part"
    mv "$tables.part" "$tables"
fi

machine() {
    if command -v sysctl > /dev/null && sysctl -n machdep.cpu.brand_string 2> /dev/null; then return; fi
    # Processors of Arm have no model name in /proc/cpuinfo, but `lscpu` knows many of them.
    if command -v lscpu > /dev/null; then lscpu | sed -n 's/^Model name: *//p' | head -n 1; else uname -m; fi
}

# The name, both times and their ratio are the first columns of both programs.
rows_of() { awk -F '|' -v work="$1" '/^\| v[12]_/ { sub(/ $/, "", $2); print "|" $2 ", " work " |" $3 "|" $4 "|" $5 "|" }'; }

# Both programs fail if a case is slow, which is a figure to report, too.
reads="$("$target/release/read" --dir "$tables" --seconds "$seconds")" || true
writes="$("$target/release/write" --dir "$tables" --seconds "$seconds" v1_)" || true

echo "$(machine), $(uname -sm), instruction set $("$target/release/kernels" --set), one thread, $(rustc --version | cut -d ' ' -f 1-2)," \
    "commit $(git rev-parse --short HEAD 2> /dev/null || echo unknown)"
echo
echo "| table | herringbone, ms | parquet crate, ms | ratio |"
echo "|---|---:|---:|---:|"
rows_of read <<< "$reads"
rows_of write <<< "$writes"
echo
printf 'Reads: %s\nWrites: %s\n' "$(tail -n 1 <<< "$reads")" "$(tail -n 1 <<< "$writes")"
