#!/usr/bin/env bash
# Runs the decoder of the metadata and the portable kernels under Miri, which sees undefined behaviour
# that no test shows: tests/miri.sh [FILTER...]
#
# Tests of many cases take few of them there (`cfg!(miri)`); vector instructions are compared with the
# portable kernels by the ordinary tests instead. Each crate has HERRINGBONE_MIRI_MINUTES, 30 unless
# said otherwise, to come to its end.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo +nightly miri --version > /dev/null 2>&1; then
    echo "skipped: this needs Miri (rustup toolchain install nightly --component miri,rust-src)"
    exit 0
fi

minutes="${HERRINGBONE_MIRI_MINUTES:-30}"
# Which instructions to use is asked of the environment.
export MIRIFLAGS="-Zmiri-disable-isolation${MIRIFLAGS:+ $MIRIFLAGS}"
# Of properties that hold for any input, few inputs are tried.
export PROPTEST_CASES="${PROPTEST_CASES:-3}"
for crate in herringbone-format herringbone-kernels; do
    status=0
    timeout "${minutes}m" cargo +nightly miri test --quiet -p "$crate" --lib -- "$@" || status=$?
    if [ "$status" -eq 124 ]; then
        echo "$crate: not through after $minutes minutes; HERRINGBONE_MIRI_MINUTES gives it more"
    fi
    [ "$status" -eq 0 ] || exit "$status"
done
