#!/usr/bin/env bash
# `herringbone browse` in a real terminal, that of tmux: keys, sizes, and the terminal as it is left behind.
#
#     crates/cli/tests/browse.sh HERRINGBONE [TESTS]
#
# HERRINGBONE is the command, built with the feature `browse`. TESTS is the program of the crate's unit tests, which has one
# that panics while the viewer has the terminal.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../../.."

command -v tmux > /dev/null || { echo "skipped: no tmux"; exit 0; }
command="$(realpath "$1")"
tests="${2:+$(realpath "$2")}"
file="$PWD/testdata/example.parquet"
source crates/cli/tests/tmux.sh

check_left() {
    await "^ended:$1\$"
    [ "$(in_tmux display -p '#{alternate_on} #{cursor_flag}')" = "0 1" ] || { echo "the screen was not left"; exit 1; }
    keys "clear; stty -g > $folder/after; echo stated" Enter
    await "^stated"
    cmp "$folder/before" "$folder/after"
}

open_terminal

echo "rows, in three sizes"
start "$command browse $file"
await "24 rows, 8 columns"
await "^row 0, row group 0; id: .*q quit$"
for width in 40 200 80; do
    resize "$width" 24
    await "^row 0, row.{$((width - 24))}\? keys, q quit$"
done

echo "keys"
keys G
await "^row 23, row group 1"
keys 2 Enter
await "^row 2, row group 0"
keys /
in_tmux send-keys -l "id > 1000000"
keys Enter
await "no row from 2 on has id > 1000000"
keys t
await "^Schema"
back
keys s
await "^id: statistics of the footer"
keys r
await "^id: statistics of all values"
back
keys f
await "^id: most frequent values"
back
keys p
await "^id: pages in row group 0"
back
keys Enter
await "^id, row 2"
keys '?'
await "^Keys"
keys q
await "^id, row 2"
keys q
await "q quit$"
keys y
await "^copied 1 character"
[ "$(in_tmux show-buffer)" = 2 ] || { echo "the clipboard has no 2"; exit 1; }
keys q
check_left 0

echo "the files of a directory"
start "$command browse '$PWD/testdata/jobs/part-*'"
await "file 1 of 3"
keys '>'
await "file 2 of 3"
keys '<'
await "file 1 of 3"
keys q
check_left 0

echo "Ctrl-C, signals"
start "$command browse $file"
await "q quit$"
keys C-c
check_left 0
start "$command browse $file"
await "q quit$"
kill -TERM "$(pgrep -P "$(in_tmux display -p '#{pane_pid}')")"
check_left 130

echo "colours"
start "NO_COLOR=1 $command browse $file"
await "q quit$"
if in_tmux capture-pane -pe | grep -qP '\x1b\[[0-9;]*\b3[0-7]m'; then echo "colours despite NO_COLOR"; exit 1; fi
keys q
check_left 0

echo "encrypted files, URLs"
echo '{"footer_key": "MDEyMzQ1Njc4OTAxMjM0NQ=="}' > "$folder/keys.json"
"$command" encrypt "$file" -o "$folder/secret.parquet" --keys "$folder/keys.json"
start "$command browse $folder/secret.parquet"
await "--keys"
check_left 3
start "$command browse $folder/secret.parquet --keys $folder/keys.json"
await "^row 0, row group 0; id: .*q quit$"
keys p
await "^id: pages in row group 0"
back
keys q
check_left 0
start "$command browse http://localhost:1/a.parquet"
await "(built without URLs|localhost:1)"
await "^ended:[34]\$"

echo "no terminal"
start "$command browse $file < /dev/null"
await "browse needs a terminal"
check_left 2
start "$command browse $file | cat"
await "browse needs a terminal"

if [ -n "$tests" ]; then
    echo "a panic"
    start "$tests --ignored --nocapture --test-threads 1 a_panic_gives_the_terminal_back"
    await "a panic for the test"
    check_left 101
fi
echo "the terminal is left as it was"
