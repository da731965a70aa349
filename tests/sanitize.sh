#!/usr/bin/env bash
# Runs tests of the runtime, of simulated devices and of the kernels under AddressSanitizer (with leak detection) and
# ThreadSanitizer.
#
#     tests/sanitize.sh [address|thread|kernels-address|kernels-thread|blas-address]...
#
# Without names the first two run. The tests of the kernels are separate, since the kernels take long to build.
#
# The script needs a nightly compiler with the component rust-src. ThreadSanitizer needs an instrumented standard
# library: without it, it misses the order that slow paths of that library establish, and reports false races. The
# script adds the component if there is a nightly compiler; NO_INSTALL=1 forbids that. The exit status is 77 if the
# compiler or the component is missing.
#
# The kernels are not optimised here, since that takes too long to build, so the tests use small orders. The kernels use
# the best instruction set of the processor. ThreadSanitizer checks data that several threads share: packed tiles, and
# tasks on devices.
#
# SUPERSCALAR_MODEL_SEEDS sets the number of programs of the model test, and PROGRAMS that of the programs on simulated
# devices. CARGO_TARGET_DIR is respected.

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

# Each test program takes seconds and is ended after five minutes, so that a program that hangs is reported.
limit=()
if command -v timeout >/dev/null; then limit=(--config "target.$host.runner = ['timeout', '--verbose', '300']"); fi

# sanitize NAME SEEDS PROGRAMS PACKAGES TEST...: builds and runs the tests under one sanitizer.
sanitize() {
    local name=$1 seeds=$2 programs=$3 packages features=() std=()
    if [ "$name" = thread ]; then std=(-Zbuild-std); fi
    read -ra packages <<<"$4"
    if [[ $4 == *kernels* ]]; then features=(--features superscalar-kernels/faer); fi
    shift 4
    printf -- '--- %s sanitizer\n' "$name"
    # Other packages are not optimised, since the tests hardly use them. Skipped are tests that measure what a sanitizer
    # changes (memory, stacks, idleness), the longest tests, and two tests that leak values on purpose, since these
    # panic again when they are dropped. Frames of unoptimised kernels are large, hence the larger stack.
    RUSTFLAGS="-Zsanitizer=$name" CARGO_TARGET_DIR="$target/sanitize" RUST_MIN_STACK=16777216 \
        SUPERSCALAR_MODEL_SEEDS="${SUPERSCALAR_MODEL_SEEDS:-$seeds}" PROGRAMS="${PROGRAMS:-$programs}" \
        ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 TSAN_OPTIONS=history_size=7:halt_on_error=1 \
        cargo +nightly test "${std[@]}" --target "$host" --locked --no-fail-fast --no-default-features \
        "${packages[@]/#/--package=superscalar-}" "${features[@]}" \
        --config 'profile.dev.package."*".opt-level=0' --config 'profile.dev.package.superscalar-kernels.opt-level=0' \
        "${limit[@]}" "${@/#/--test=}" -- \
        --skip million_tasks --skip many_readers_and_a_writer --skip thousands_of_threads --skip idle \
        --skip results_are_the_same --skip errors_and_panics_of_kernels --skip panic_in_dropped_kernel \
        --skip small_stack || status=$?
}

if ! has_source && ! add_source; then
    echo "SKIPPED: no nightly compiler with rust-src"
    exit 77
fi
if [ $# -eq 0 ]; then set -- address thread; fi
tests=(model devices misuse lifecycle sim programs)
for name in "$@"; do
    case $name in
        address) sanitize address 3000 100 'runtime devices' "${tests[@]}" ;;
        thread) sanitize thread 1000 40 'runtime devices' "${tests[@]}" ;;
        kernels-address) sanitize address 0 0 kernels packs codelets exact_memory faer ;;
        # exact_memory uses one thread.
        kernels-thread) sanitize thread 0 0 kernels packs codelets ;;
        # The drop-in library as its callers use it, including wrong calls.
        blas-address) sanitize address 0 0 blas misuse lapack library ;;
        *) echo "unknown sanitizer: $name" >&2 && exit 2 ;;
    esac
done
exit "$status"
