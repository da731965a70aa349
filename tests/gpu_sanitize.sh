#!/usr/bin/env bash
# Runs every kernel of this project for NVIDIA GPUs, in s, d, c and z, under the tools of NVIDIA's compute-sanitizer.
#
#     tests/gpu_sanitize.sh [memcheck|racecheck|synccheck|initcheck]...
#
# Without names all four tools run. compute-sanitizer is searched in $CUDA_HOME, in /usr/local/cuda and in the PATH.
# With BINARIES=FOLDER nothing is built, and the programs `conformance`, `cuda` and `tester` of this folder run. The
# exit status is 0 if no tool reports an error or a warning and all programs succeed, 1 otherwise, 2 if an argument is
# not valid, and 77 if there is no GPU or no compute-sanitizer.
#
# Which test runs which kernels (kernels/src/cuda/text, devices/src/cuda/text):
#
#   conformance every_kernel::X::        kernels; X = s d c z (kernels/tests/conformance/reach.rs)
#     elements                           copy transpose scale laswp complete fold
#     triangular                         multiply copy solve solve_urgent
#     potrf_of_few_warps                 potrf, of at most the columns that a warp factors at once; solve solve_many
#     potrf_of_many_warps                potrf, of more columns; solve rank_k
#     panels                             getrf_{1,2,4,8} geqrf_{1,2,4,8} in clusters, shift
#     panels, X = s_without_clusters ..  getrf_{1,2,4,8} geqrf_{1,2,4,8} in grids, clear
#     tall_panels                        getrf_1 geqrf_1 in grids, getrf_in_place geqrf_in_place
#     batched_factors                    {potrf,getrf,getrf_nopiv}_{rows,block}_*, larft_block,
#                                        {geqrf,orgqr,ormqr}_{columns_*,block}
#   cuda copies::small copies::random    copy (copies.rs in devices/tests/cuda and driver: between two heaps on one GPU)
#   tester                               whole routines: the same kernels with the runtime's copies and queues
#
# A heap is one allocation, so memcheck and initcheck detect accesses outside a heap, shared memory or the arguments of
# a launch, but not accesses outside a matrix within a heap. The other conformance tests compare every byte around a
# matrix.
#
# Each test runs in a process of its own, since racecheck hangs in a process that runs all of them. The tester does not
# run under racecheck and initcheck, since the kernels of cuBLAS take too long there.
#
# potrf_of_many_warps does not run under racecheck. It uses barriers that only some warps of a block reach (`tell` and
# `hear` in factor.cu). After the first such barrier, the racecheck of CUDA 13.0 reports varying false races between
# accesses that __syncthreads separates. It also does so in a kernel whose warps access nothing between such barriers,
# and it does not without them.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all_tools=(memcheck racecheck synccheck initcheck)

routines=gemm,gemmt,herk,her2k,trmm,trsm,lauum,potrf,potrs,posv,potri,trtri,getrf,getrs,gesv,getri
routines+=,geqrf,gelqf,unmqr,ungqr,tsqr,gels,gesv_mixed,gecon,lange,lacpy,laset,geadd,laswp,swap
resident=gemm,trmm,trsm,potrf,potrs,getrf,getrs,geqrf
# The tools also need GPU memory, so that of the tester is limited.
small=(--type s,d,c,z --dim 200x180x190 --nb 64 --nrhs 20 --repeat 1 --device-memory 1G)

find_sanitizer() {
    local home
    for home in "${CUDA_HOME:-}" /usr/local/cuda; do
        [ -n "$home" ] && [ -x "$home/bin/compute-sanitizer" ] && echo "$home/bin/compute-sanitizer" && return
    done
    command -v compute-sanitizer
}

# executable PACKAGE TEST: builds a test and prints its path.
executable() {
    cargo test --locked --no-run -p "$1" --test "$2" --message-format=json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}

build() {
    if [ -n "${BINARIES:-}" ]; then
        programs=("$BINARIES/conformance" "$BINARIES/cuda" "$BINARIES/tester")
        return
    fi
    local target=${CARGO_TARGET_DIR:-$PWD/target}
    cargo build --locked --bin tester || return
    programs=("$(executable superscalar-kernels conformance)" "$(executable superscalar-devices cuda)")
    programs+=("$target/debug/tester")
    [ -x "${programs[0]}" ] && [ -x "${programs[1]}" ]
}

# is_clean TOOL LOG: whether the tool completed and reported nothing.
is_clean() {
    case $1 in
        racecheck) grep -q 'RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)' "$2" ;;
        *) grep -q 'ERROR SUMMARY: 0 errors' "$2" ;;
    esac
}

# under TOOL NAME COMMAND...: runs a command under a tool, and prints the log if it fails.
under() {
    local tool=$1 name=$2 begun=$SECONDS code=0
    shift 2
    "$sanitizer" --tool "$tool" --error-exitcode 9 "$@" >"$log" 2>&1 || code=$?
    if [ "$code" -eq 0 ] && is_clean "$tool" "$log"; then
        printf 'ok      %-10s %-40s %4s s\n' "$tool" "$name" "$((SECONDS - begun))"
        return
    fi
    printf 'FAILED  %-10s %-40s %4s s, exit status %s\n' "$tool" "$name" "$((SECONDS - begun))" "$code"
    grep -v '^test .* ok$' "$log" | head -n 200
    status=1
}

check() {
    local tool=$1 name names
    names=$("${programs[0]}" every_kernel:: --list | sed -n 's/: test$//p')
    [ -n "$names" ] || { echo "FAILED  $tool: there are no tests" && status=1; }
    for name in $names; do
        case $tool:$name in racecheck:*many_warps) continue ;; esac
        under "$tool" "${name#every_kernel::}" "${programs[0]}" --exact "$name"
    done
    under "$tool" "copies between heaps" "${programs[1]}" copies::small copies::random
    case $tool in racecheck | initcheck) return ;; esac
    under "$tool" "tester, matrices on the host" "${programs[2]}" "$routines" "${small[@]}" --devices cuda:0
    under "$tool" "tester, matrices on the device" "${programs[2]}" "$resident" "${small[@]}" --devices cuda:0 \
        --location device --pinned y
    under "$tool" "tester, two heaps" "${programs[2]}" gemm,potrf,getrf --type d,z --dim 100 --nb 16 --repeat 1 \
        --devices cuda:0,cuda:0 --device-memory 64M
}

[ $# -gt 0 ] || set -- "${all_tools[@]}"
for tool in "$@"; do
    case " ${all_tools[*]} " in
        *" $tool "*) ;;
        *) echo "unknown tool: $tool" >&2 && exit 2 ;;
    esac
done
sanitizer=$(find_sanitizer) || { echo "SKIPPED: no compute-sanitizer" && exit 77; }
nvidia-smi -L 2>/dev/null | grep -q '^GPU' || { echo "SKIPPED: no GPU" && exit 77; }
# From here on, tests that find no GPU fail.
export REQUIRE_CUDA=1
programs=()
build || { echo "FAILED: the programs do not build" >&2 && exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
for tool in "$@"; do check "$tool"; done
exit "$status"
