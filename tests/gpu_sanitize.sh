#!/usr/bin/env bash
# Every kernel of ours for NVIDIA GPUs, in s, d, c and z, under the tools of NVIDIA's compute-sanitizer.
#
#     tests/gpu_sanitize.sh [memcheck|racecheck|synccheck|initcheck]...
#
# Without names all four run. The exit status is 0 if no tool reports an error or a warning and all programs end well, 1 if not, 2 if an
# argument is not valid, and 77 if there is no GPU or no compute-sanitizer, which is looked for in $CUDA_HOME, in /usr/local/cuda and on the
# PATH. With BINARIES=FOLDER nothing is built: the programs `conformance`, `cuda` and `tester` are there.
#
# What reaches which kernel (kernels/src/cuda/text, devices/src/cuda/text):
#
#   program      tests                                kernels
#   conformance  moves                                scale copy transpose laswp complete
#                products::gemm, large::gemmt         fold scale
#                triangles::trmm, large::trmm         multiply copy
#                triangles::potrf, large::potrf       potrf solve; solve_many in large::potrf_with_much_beside
#                triangles::trsm                      solve; solve_soon in every fourth call, whose queue is urgent
#                panels on `cuda`                     getrf_{1,2,4,8} geqrf_{1,2,4,8} in clusters, of one block and of several; shift
#                panels::tall                         getrf_1 geqrf_1 in grids, getrf_in_place geqrf_in_place clear
#                panels on `cuda_without_clusters`    getrf_{1,2,4,8} geqrf_{1,2,4,8} in grids
#   cuda         copies                               copy, between two heaps on one GPU
#   tester       routines                             the same kernels among the copies and queues of the runtime
#
# A heap is one allocation, so memcheck and initcheck see what leaves a heap, shared memory or a launch's arguments, and not what leaves a
# matrix for its neighbour in the heap: the conformance tests compare every byte of that.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all_tools=(memcheck racecheck synccheck initcheck)

# The tests that only call cuBLAS are left out.
conformance=(cuda --skip products::symm --skip products::rank --skip gemm_propagates --skip products_of_some_depth)
routines=gemm,gemmt,herk,her2k,trmm,trsm,lauum,potrf,potrs,posv,potri,trtri,getrf,getrs,gesv,getri,geqrf,gelqf,unmqr,ungqr,tsqr
routines+=,gels,gesv_mixed,gecon,lange,lacpy,laset,geadd,laswp,swap
resident=gemm,trmm,trsm,potrf,potrs,getrf,getrs,geqrf
small=(--type s,d,c,z --dim 200x180x190 --nb 64 --nrhs 20 --repeat 1)

find_sanitizer() {
    local home
    for home in "${CUDA_HOME:-}" /usr/local/cuda; do
        [ -n "$home" ] && [ -x "$home/bin/compute-sanitizer" ] && echo "$home/bin/compute-sanitizer" && return
    done
    command -v compute-sanitizer
}

# executable PACKAGE ARGUMENTS...: builds a test and says where it is.
executable() {
    cargo test --locked --no-run -p "$1" --test "$2" --message-format=json | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}

build() {
    if [ -n "${BINARIES:-}" ]; then
        programs=("$BINARIES/conformance" "$BINARIES/cuda" "$BINARIES/tester")
        return
    fi
    local target=${CARGO_TARGET_DIR:-$PWD/target}
    cargo build --locked --bin tester || return
    programs=("$(executable superscalar-kernels conformance)" "$(executable superscalar-devices cuda)" "$target/debug/tester")
    [ -x "${programs[0]}" ] && [ -x "${programs[1]}" ]
}

# is_clean TOOL LOG: whether the tool came to its end and has nothing to report.
is_clean() {
    case $1 in
        racecheck) grep -q 'RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)' "$2" ;;
        *) grep -q 'ERROR SUMMARY: 0 errors' "$2" ;;
    esac
}

# under TOOL NAME COMMAND...: runs a command; the log is shown if something is wrong.
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
    local tool=$1
    under "$tool" "conformance" "${programs[0]}" "${conformance[@]}"
    under "$tool" "copies between heaps" "${programs[1]}" copies
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
# A suite that finds no GPU fails from here on.
export REQUIRE_CUDA=1
programs=()
build || { echo "FAILED: the programs do not build" >&2 && exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
for tool in "$@"; do check "$tool"; done
exit "$status"
