#!/usr/bin/env bash
# Runs each fuzz target for some seconds with the address sanitizer: fuzz/smoke.sh [SECONDS [TARGET...]]
#
# Builds, corpora and crash inputs are kept outside of the source tree, in HERRINGBONE_FUZZ or a cache
# folder. A corpus grows from run to run, and starts with seeds from testdata/ and, where
# PARQUET_TEST_DATA names its folder `data`, from apache/parquet-testing.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-10}"
shift || true
state="${HERRINGBONE_FUZZ:-${XDG_CACHE_HOME:-$HOME/.cache}/herringbone-fuzz}"

if ! cargo +nightly --version > /dev/null 2>&1; then
    echo "skipped: fuzzing needs a nightly toolchain (rustup toolchain install nightly)"
    exit 0
fi
if ! cargo fuzz --version > /dev/null 2>&1; then
    cargo +nightly check --quiet --manifest-path fuzz/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/fuzz"
    echo "skipped: fuzzing needs cargo-fuzz (cargo install cargo-fuzz); the targets were only type-checked"
    exit 0
fi

mkdir -p "$state"
if [ ! -d "$state/corpus/whole_file" ]; then
    HERRINGBONE_FUZZ_SEEDS="$state/corpus" \
        cargo test --quiet -p herringbone-tests --test regressions files_become_seeds > /dev/null
fi

# libdeflate compiles the same C file for several instruction sets, which is no bug.
export ASAN_OPTIONS="detect_odr_violation=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

cargo +nightly fuzz build --target-dir "$state/target"
host="$(rustc -vV | sed -n 's/^host: //p')"
if [ $# -eq 0 ]; then
    mapfile -t targets < <(cargo +nightly fuzz list)
else
    targets=("$@")
fi

fuzz() {
    local target="$1" log="$state/$1.log" inputs=("$state/corpus/$1") peer=() status=0
    mkdir -p "$state/corpus/$target" "$state/artifacts/$target"
    [ -d "fuzz/regressions/$target" ] && inputs+=("fuzz/regressions/$target")
    # The `parquet` crate runs out of memory and hangs: that is not what is looked for.
    if [ "$target" = against_arrow_rs ]; then
        peer=(-detect_leaks=0 -fork=1 -ignore_ooms=1 -ignore_timeouts=1)
        local -x ASAN_OPTIONS="$ASAN_OPTIONS:allocator_may_return_null=1"
    fi
    # More memory than the limits of fuzz/src/read.rs allow, or longer than any small input takes,
    # is a finding. The entropic schedule takes most of the time of targets with many features.
    "$state/target/$host/release/$target" "${inputs[@]}" \
        -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=30 -max_len=32768 -use_value_profile=1 -entropic=0 \
        "${peer[@]}" \
        -artifact_prefix="$state/artifacts/$target/" > "$log" 2>&1 || status=$?
    # What is ignored is the outcome all the same (70 a hang, 71 too much memory) where it comes last.
    if [ "${#peer[@]}" -gt 0 ] && [ "$status" -eq 70 -o "$status" -eq 71 ]; then
        status=0
    fi
    if [ "$status" -eq 0 ]; then
        printf '%-32s %s\n' "$target" "$(grep -aE '^Done' "$log" || tail -n 1 "$log")"
    else
        printf '%-32s FAILED, see %s\n' "$target" "$log"
        echo "$target" >> "$state/failed"
    fi
}

# As many at a time as there are cores.
: > "$state/failed"
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
        wait -n
    done
    fuzz "$target" &
done
wait
[ ! -s "$state/failed" ]
