#!/usr/bin/env bash
# The runtime's tests under AddressSanitizer (with leak detection) and ThreadSanitizer.
#
#     tests/sanitize.sh [address|thread]...
#
# Needs a nightly compiler with the component rust-src, since the standard library is instrumented, too: without it
# ThreadSanitizer does not see what the library's slow paths order, and reports races that are none. The component is added
# where the nightly compiler is there; NO_INSTALL=1 forbids it. The exit status is 77 if there is nothing to run with.
#
# SUPERSCALAR_MODEL_SEEDS sets how many programs of the model test run. CARGO_TARGET_DIR is respected.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
target=${CARGO_TARGET_DIR:-$PWD/target}
status=0

has_source() {
    local root
    root=$(rustc +nightly --print sysroot 2>/dev/null) && [ -d "$root/lib/rustlib/src/rust/library" ]
}

add_source() {
    [ "${NO_INSTALL:-0}" != 1 ] && rustc +nightly --version >/dev/null 2>&1 &&
        rustup component add rust-src --toolchain nightly >/dev/null 2>&1
}

# Each test program ends after five minutes, of which it needs seconds: one that hangs is named.
limit=()
if command -v timeout >/dev/null; then limit=(--config "target.$host.runner = ['timeout', '--verbose', '300']"); fi

# sanitize NAME SEEDS: builds and runs the tests under one sanitizer.
sanitize() {
    printf -- '--- %s sanitizer\n' "$1"
    # Dependencies are not optimised: they are built once, for tests that hardly use them. Left out are the tests that measure
    # what a sanitizer changes, memory and idleness, and the longest.
    RUSTFLAGS="-Zsanitizer=$1" CARGO_TARGET_DIR="$target/sanitize" \
        SUPERSCALAR_MODEL_SEEDS="${SUPERSCALAR_MODEL_SEEDS:-$2}" \
        ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 TSAN_OPTIONS=history_size=7:halt_on_error=1 \
        cargo +nightly test -Zbuild-std --target "$host" --locked -p superscalar-runtime --no-fail-fast \
        --config 'profile.dev.package."*".opt-level=0' "${limit[@]}" \
        --test model --test devices --test misuse --test lifecycle -- \
        --skip a_million_tasks --skip a_hundred_thousand --skip idle || status=$?
}

if ! has_source && ! add_source; then
    echo "SKIPPED: no nightly compiler with rust-src"
    exit 77
fi
if [ $# -eq 0 ]; then set -- address thread; fi
for name in "$@"; do
    case $name in
        address) sanitize address 4000 ;;
        thread) sanitize thread 1500 ;;
        *) echo "unknown sanitizer: $name" >&2 && exit 2 ;;
    esac
done
exit "$status"
