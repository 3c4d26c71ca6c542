# The turns of `.ci/turns` that are no scripts of their own. `.ci/run` sources this file.

simd() {
    # The programs of `cargo test` again, so nothing is built for it, with more random cases.
    HERRINGBONE_SIMD=scalar HERRINGBONE_CASES=3 cargo test --quiet --lib --test it --test damage
    # The tests of kernels compare each one with its scalar twin. The others need not run a third time.
    if grep -q avx512vl /proc/cpuinfo; then
        HERRINGBONE_SIMD=avx2 cargo test --quiet --lib -p herringbone-kernels -p herringbone-core
    else
        echo "this processor has no AVX-512: the tests above took what it has"
    fi
}

arrow_59() {
    cargo test --quiet -p herringbone-kernels -p herringbone-schema -p herringbone-core -p herringbone-filter -p herringbone-read \
        -p herringbone-write -p herringbone-sort -p herringbone-variant -p herringbone-geospatial \
        -p herringbone -p herringbone-inspect -p herringbone-remote -p herringbone-dataset -p herringbone-rewrite \
        --no-default-features --features arrow-59,herringbone/codecs,herringbone/encryption,herringbone/geospatial,herringbone/variant
    cargo check --quiet -p herringbone-cli --no-default-features --features arrow-59
    cargo test --quiet -p herringbone-geospatial --features geo-traits --test geo_traits
}

codecs() {
    cargo test --quiet -p herringbone-core -p herringbone-read -p herringbone-write -p herringbone --no-default-features \
        --features arrow-60 --lib
    cargo test --quiet -p herringbone-core --features brotli,ruzstd --lib compression
    cargo test --quiet -p herringbone-core --no-default-features --features arrow-60,pure --lib compression
}

aes() {
    cargo test --quiet -p herringbone-encryption --lib
    cargo test --quiet -p herringbone-encryption --features aws-lc-rs --lib
}

whole_command() { cargo clippy --quiet -p herringbone-command -p herringbone-cli --all-targets -- -D warnings; }

urls() {
    whole_command
    cargo test --quiet -p herringbone-remote --features blocking,urls
    cargo test --quiet -p herringbone-cli --features browse,remote --lib --test it -- url remote
    tests/interop_command_remote.sh
}

viewer() {
    local tests
    whole_command
    cargo build --quiet -p herringbone-command
    tests="$(cargo test -p herringbone-cli --features browse,remote --lib --no-run --message-format json |
        grep -o '"executable":"[^"]*"' | cut -d '"' -f 4)"
    "$tests" --quiet browse
    crates/cli/tests/browse.sh "${CARGO_TARGET_DIR:-target}/debug/herringbone" "$tests"
    crates/cli/tests/terminal.sh "${CARGO_TARGET_DIR:-target}/debug/herringbone"
    command -v tmux > /dev/null || skip "the viewer and tables in a terminal: apt-get install tmux"
    python3 crates/cli/tests/report.py "${CARGO_TARGET_DIR:-target}/debug/herringbone" "${CARGO_TARGET_DIR:-target}/report"
    command -v chromium chromium-browser google-chrome > /dev/null || skip "reports in a browser: apt-get install chromium"
}
