#!/usr/bin/env bash
# Builds libherringbone, and uses it from C and C++: integrations/c/ci.sh [--update | --install PREFIX]
#
# With `--update`, it only writes `herringbone.h` anew. With `--install`, it builds a release, and copies the libraries, the
# header and the file for pkg-config below a folder.
set -euo pipefail
cd "$(dirname "$0")"
# The target folder is that of the library's workspace, whose crates are built in the same way.
target="${CARGO_TARGET_DIR:-$PWD/../../target}"
export CARGO_TARGET_DIR="$target" CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none
folder="$target/c"
nanoarrow=0.9.0
mkdir -p "$folder"

header() { (cd lib && cbindgen --quiet --config ../cbindgen.toml --output "$1"); }
if [ "${1:-}" = --update ]; then
    header "$PWD/herringbone.h"
    exit
fi
if [ "${1:-}" = --install ]; then
    prefix="$(mkdir -p "$2" && cd "$2" && pwd)"
    cargo build --quiet --release --locked -p herringbone-c
    mkdir -p "$prefix"/{include,lib/pkgconfig}
    cp herringbone.h "$prefix/include/"
    cp "$target"/release/libherringbone.a "$prefix/lib/"
    cp "$target"/release/libherringbone.so "$prefix/lib/libherringbone.so.1"
    ln -sf libherringbone.so.1 "$prefix/lib/libherringbone.so"
    version="$(sed -n 's/^version = "\(.*\)"/\1/p' lib/Cargo.toml)"
    sed "s|@PREFIX@|$prefix|; s|@VERSION@|$version|" herringbone.pc.in > "$prefix/lib/pkgconfig/herringbone.pc"
    exit
fi

cargo fmt --all --check
cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
# All packages at once, so that they share their dependencies.
cargo build --quiet --locked --workspace
HERRINGBONE_LIBRARY="$target/debug/libherringbone.so" cargo test --quiet --locked --workspace -- --nocapture

if command -v cbindgen > /dev/null; then
    header "$folder/herringbone.h"
    diff herringbone.h "$folder/herringbone.h" || { echo "herringbone.h is old: integrations/c/ci.sh --update"; exit 1; }
else
    echo "skipped: whether herringbone.h is current: cargo install --locked cbindgen"
fi

# nanoarrow's C library, from the source archive of its Python package. pip unpacks it, and builds nothing in it.
sources="$folder/nanoarrow-$nanoarrow"
if [ ! -d "$sources" ]; then
    unpacked="$(mktemp -d "$folder/pip-XXXXXX")"
    TMPDIR="$unpacked" timeout 120 python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --no-cache-dir --no-clean \
        --config-settings=compile-args=-n --config-settings=install-args=--tags=none \
        --no-binary nanoarrow --wheel-dir "$unpacked/wheel" "nanoarrow==$nanoarrow" || true
    found="$(find "$unpacked" -path '*/src/nanoarrow/nanoarrow.h' | head -1)"
    if [ -n "$found" ]; then
        cp -r "$(dirname "$(dirname "$found")")" "$sources"
        sed "s/@NANOARROW_VERSION@/$nanoarrow/; s/@NANOARROW_VERSION_[A-Z]*@/0/; s/@NANOARROW_NAMESPACE_DEFINE@//" "$sources/nanoarrow/nanoarrow_config.h.in" \
            > "$sources/nanoarrow/nanoarrow_config.h"
    else
        echo "skipped: nanoarrow: pip cannot download its source archive"
    fi
    rm -rf "$unpacked"
fi

ln -sf libherringbone.so "$target/debug/libherringbone.so.1"
warnings=(-Wall -Wextra -Wpedantic -Werror -I. -g)
link=(-L"$target/debug" -lherringbone -Wl,-rpath,"$target/debug")
# A server for URLs, at a port of its choice. An older log would have the port of an older server.
rm -f "$folder"/{server,store}.log
python3 -u -m http.server 0 --bind 127.0.0.1 --directory ../../testdata > "$folder/server.log" 2>&1 &
server="$!"
trap 'kill "$server"' EXIT
until url="$(grep -so 'http://[^/]*' "$folder/server.log")"; do sleep 0.1; done
# A store for datasets at URLs.
store="" moto="$folder/moto"
if [ -x "$moto/bin/moto_server" ] || {
    python3 -m venv "$moto" && timeout 120 "$moto/bin/pip" install --quiet --disable-pip-version-check 'moto[server,s3]==5.2.5'
}; then
    "$moto/bin/moto_server" -H 127.0.0.1 -p 0 > "$folder/store.log" 2>&1 &
    server="$server $!"
    trap 'kill $server' EXIT
    until endpoint="$(grep -so 'http://[^ /]*' "$folder/store.log")"; do sleep 0.1; done
    export AWS_ENDPOINT_URL="$endpoint" AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AWS_REGION=us-east-1 AWS_ALLOW_HTTP=true
    curl --silent --fail --retry 9 --retry-connrefused --request PUT "$endpoint/herringbone" > /dev/null
    store=s3://herringbone
else
    echo "skipped: a dataset in a store: pip cannot install moto"
fi
for cc in gcc clang; do
    command -v "$cc" > /dev/null || { echo "skipped: $cc is not installed"; continue; }
    cxx=g++
    [ "$cc" = gcc ] || cxx=clang++
    for sanitizers in none address,undefined; do
        flags=("${warnings[@]}")
        [ "$sanitizers" = none ] || flags+=(-fsanitize="$sanitizers" -fno-sanitize-recover=all)
        made="$folder/$cc-$sanitizers"
        rm -rf "$made"
        mkdir -p "$made"
        echo "$cc, sanitizers: $sanitizers"
        "$cc" -std=c11 "${flags[@]}" tests/use.c -o "$made/use" "${link[@]}"
        "$cxx" -std=c++17 "${flags[@]}" tests/use.cpp -o "$made/use_cpp" "${link[@]}"
        export ASAN_OPTIONS=detect_leaks=1
        "$made/use" ../../testdata "$made" "$url" ${store:+"$store/$cc-$sanitizers"}
        "$made/use_cpp" ../../testdata
        if [ -d "$sources" ]; then
            # Its own files have warnings that are not ours to mend.
            "$cc" -std=c11 "${flags[@]}" -isystem "$sources" tests/nanoarrow.c -c -o "$made/nanoarrow.o"
            "$cc" -std=c11 -w ${flags[@]:5} -I"$sources" "$made/nanoarrow.o" "$sources"/nanoarrow/common/{array,schema,array_stream,utils}.c \
                -o "$made/nanoarrow" "${link[@]}"
            "$made/nanoarrow" "$made"
        fi
    done
done
# The static library.
gcc -std=c11 "${warnings[@]}" tests/use.c "$target/debug/libherringbone.a" -lm -lpthread -ldl -o "$folder/use-static"
rm -rf "$folder/static"
mkdir -p "$folder/static"
"$folder/use-static" ../../testdata "$folder/static"
