#!/usr/bin/env bash
# Tables, colours, pipes and pagers in a real terminal, that of tmux, at 40, 80 and 200 columns.
#
#     crates/cli/tests/terminal.sh HERRINGBONE
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../../.."

command -v tmux > /dev/null || { echo "skipped: no tmux"; exit 0; }
command="$(realpath "$1")"
source crates/cli/tests/tmux.sh
open_terminal
keys "cd $PWD/testdata/jobs; alias h=$command" Enter

echo "tables at three widths"
for width in 40 80 200; do
    resize "$width" 60
    for words in "head -n 3 trips.parquet" "trips.parquet" "stats trips.parquet" "info trips.parquet" "pages -c fare trips.parquet" "freq city trips.parquet"; do
        start "h $words"
        await "^ended:0\$"
        # The terminal wraps a line wider than itself. Its end is not a border then.
        if screen | grep -E "^[│├└┌╞]" | grep -qvE "[│┤┘┐╡]\$"; then
            echo "$words is wider than $width columns:"
            screen
            exit 1
        fi
    done
    start "h head -n 3 trips.parquet"
    await "^│ int64 .* list +│\$"
    await "^3 of 40 rows"
    # Numbers and times are whole, or their column is left out.
    start "h cat --offset 3 -n 1 -c id,fare,at trips.parquet"
    await "^│ +3 ┆ +5.5 ┆ (… +|2024-01-31 15:00:00Z )│\$"
done
await "2024-01-31 15:00:00Z"

echo "colours"
resize 80 24
# Checks that the screen has a code of terminals after a command, up to a line, unless NO_COLOR is set.
check_code() {
    has_code() { in_tmux capture-pane -pe | grep -qP "\x1b\[[0-9;]*$1m"; }
    start "h $2"
    await "$3"
    has_code "$1" || { echo "no code of colours or styles: $2"; exit 1; }
    start "NO_COLOR=1 $command $2"
    await "$3"
    if has_code "$1"; then echo "a code despite NO_COLOR: $2"; exit 1; fi
}
check_code '\b3[0-7]' "frobnicate" "^ended:2\$"
check_code '[12]' "head -n 3 trips.parquet" "^3 of 40 rows"

echo "pipes"
start "h head -n 1 -c id,city trips.parquet | cat"
await '^\{"id":0,"city":"Lima"\}$'
start "h cat trips.parquet | head -n 1 | cut -c 1-7; echo \${PIPESTATUS[0]}"
await '^\{"id":0$'
await "^0\$"

echo "pagers"
start "PAGER=\"sed 's/^/page: /'\" $command head -n 1 -c id trips.parquet"
await "^page: │ +0 │"
start "PAGER='head -n 2' $command cat trips.parquet"
await "^ended:0\$"
start "PAGER=cat $command head -n 1 -c id trips.parquet"
await "^│ +0 │"
start "PAGER=false $command head -n 1 -c id trips.parquet | cat"
await '^\{"id":0\}$'

echo "findings and progress share the terminal"
start "h verify trips.parquet"
await "^trips.parquet: sound\$"
echo "terminals show what they should"
