#!/usr/bin/env bash
# Runs the programs in FOLDER, and packs them for TARGET, such as x86_64-unknown-linux-gnu, with licences, notices, manual pages and
# completions: tests/release/archive.sh FOLDER TARGET OUT. OUT gets the archive, and a bill of materials for each program.
# RUNNER in the environment runs programs of another machine, for example RUNNER=wine.
set -euo pipefail
# Windows has another encoding otherwise.
export PYTHONUTF8=1
cd "$(dirname "$0")/../.."

programs="$(cd "$1" && pwd)" target="$2" out="$3"
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)"
name="herringbone-$version-$target"
suffix=""
case "$target" in *windows*) suffix=.exe ;; esac
mkdir -p "$out"
out="$(cd "$out" && pwd)"
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT
content="$stage/$name"
mkdir -p "$content/man" "$content/completions"

command="$programs/herringbone$suffix" sql="$programs/herringbone-sql$suffix"
expect() { [ "$2" = "$1" ] || { echo "expected: $1"; echo "found: $2"; exit 1; }; }
# Windows ends lines with a carriage return.
read -ra runner <<< "${RUNNER:-}"
plain() { "${runner[@]}" "$@" | tr -d '\r'; }
expect "herringbone $version" "$(plain "$command" --version)"
# The rows of the file are those of the README.
expect '{"id":0,"name":"amber"}' "$(plain "$command" cat testdata/example.parquet --columns id,name --limit 1)"
expect 24 "$(plain "$sql" --format csv "select count(*) as n from 'testdata/example.parquet'" | tail -n 1)"

cp "$command" "$sql" LICENSE "$content/"
cp crates/cli/README.md "$content/"
{
    tests/release/notices.py ./Cargo.toml herringbone-command
    printf '\n\n%s\n\n' "The program herringbone-sql contains these:"
    tests/release/notices.py integrations/Cargo.toml herringbone-ballista
} > "$content/THIRD_PARTY_NOTICES"
plain "$command" man > "$content/man/herringbone.1"
# The names in the list of commands of `--help`, as the completions have them.
for one in $(plain "$command" completions fish | sed -n 's/.*__fish_herringbone_needs_command" -f -a "\([a-z-]*\)".*/\1/p' | sort -u); do
    [ "$one" = help ] || plain "$command" man "$one" > "$content/man/herringbone-$one.1"
done
plain "$command" completions bash > "$content/completions/herringbone.bash"
plain "$command" completions fish > "$content/completions/herringbone.fish"
plain "$command" completions zsh > "$content/completions/_herringbone"
plain "$command" completions powershell > "$content/completions/_herringbone.ps1"

tests/release/notices.py --sbom ./Cargo.toml herringbone-command > "$out/herringbone-$version.cdx.json"
tests/release/notices.py --sbom integrations/Cargo.toml herringbone-ballista > "$out/herringbone-sql-$version.cdx.json"
tests/release/pack.py "$content" "$out/$name"
ls -l "$out"
