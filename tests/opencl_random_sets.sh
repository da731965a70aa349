#!/usr/bin/env bash
# Tests the generator of OpenCL kernels: the tester's cases, in small and ragged tiles, with kernels of random rows of
# parameters.
#
#     tests/opencl_random_sets.sh [COUNT [FIRST_SEED]]
#
# Runs COUNT sets (by default 3), with the seeds from FIRST_SEED (1) on. A set is a row that is valid on the device for
# each of s, d, c and z, which `superscalar-tune --sample` draws. The tester runs all routines with it, and for every
# fourth seed those that have a form for batches. The seed also determines the sizes of matrices and tiles. At the end,
# rows that are not valid must be refused by the names of the constraints.
#
# On PoCL nearly all of the time is the compiler's and that of starting groups: half a minute for a set.
#
# DEVICE=opencl:N names the device, by default the first. TYPES=d,c tests these types only. With BINARIES=FOLDER
# nothing is built, and the programs `superscalar-tune` and `tester` of this folder run. SECONDS_MAX ends the run after
# a set, by default after an hour. Of each set that fails, a line says the seed and the command that repeats it. The exit
# status is 0 if none fails, 1 otherwise, 2 if an argument is not valid, and 77 if there is no such device.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

count=${1:-3} first=${2:-1} device=${DEVICE:-opencl:0}
if ! [[ $count =~ ^[1-9][0-9]{0,5}$ && $first =~ ^[0-9]{1,9}$ && ${SECONDS_MAX:-3600} =~ ^[0-9]+$ ]]; then
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
if [ -z "${BINARIES:-}" ]; then
    cargo build --locked --workspace --bins --features opencl || exit 1
    BINARIES=${CARGO_TARGET_DIR:-target}/debug
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rows=$scratch/rows log=$scratch/log
# Some sets have programs in common.
export SUPERSCALAR_CACHE=$scratch/cache POCL_CACHE_DIR=$scratch/pocl SUPERSCALAR_OPENCL_PARAMETERS=
mkdir -p "$SUPERSCALAR_CACHE" "$POCL_CACHE_DIR"

# draw SEED: stores a row for each type.
draw() {
    rm -f "$rows"
    timeout 60 "$BINARIES/superscalar-tune" --device "$device" --sample --seed "$1" --out "$rows" >"$log" 2>&1
}

# run ARGUMENTS...: runs the tester with the rows, and for 15 minutes at most.
run() {
    local status=0
    SUPERSCALAR_OPENCL_PARAMETERS=$rows timeout 900 \
        "$BINARIES/tester" "$@" --repeat 1 --devices "$device" >>"$log" 2>&1 || status=$?
    if [ "$status" -eq 124 ]; then echo "error: the tester took more than 900 s" >>"$log"; fi
    return "$status"
}

# try SEED: runs the cases of a set. Tiles have 7 to 38 rows, matrices up to three tiles, of which the last are smaller.
# Triangles are lower or upper, and with or without a unit diagonal, by turns.
try() {
    local seed=$1 nb m n k uplo=(l u) diag=(n u)
    nb=$((7 + seed * 11 % 32))
    m=$((nb + 1 + seed * 7 % nb * 2)) n=$((nb + 1 + seed * 5 % nb)) k=$((1 + seed * 13 % (2 * nb)))
    draw "$seed" || return 1
    run all --type "${TYPES:-s,d,c,z}" --dim "${m}x${n}x$k" --nrhs "$((1 + seed % 9))" --nb "$nb" --seed "$seed" \
        --uplo "${uplo[seed % 2]}" --diag "${diag[seed / 2 % 2]}" || return 1
    if ((seed % 4 > 0)); then return; fi
    run all --type "${TYPES:-s,d,c,z}" --dim "${n}x${n}x$k" --nrhs 5 --seed "$seed" --batch 3 --batch-sizes random
}

# refused KEY=VALUE NAME: the tester must refuse rows with this word, by the name of the constraint.
refused() {
    draw 1
    sed -i -E "s/ ${1%%=*}=[^ ]+/ $1/" "$rows"
    : >"$log"
    ! run gemm --type d --dim 20 --nb 16 && grep -q "$2" "$log"
}

if ! draw 1; then
    cat "$log" >&2
    grep -q "no OpenCL device" "$log" && exit 77
    exit 1
fi
failed=0 ran=0
for ((seed = first; seed < first + count && SECONDS < ${SECONDS_MAX:-3600}; ++seed)); do
    begun=$SECONDS
    if try "$seed"; then
        echo "seed $seed: $(grep -h 'rows ok' "$log" | paste -sd ' '), $((SECONDS - begun)) s"
    else
        failed=$((failed + 1))
        echo "seed $seed FAILED: repeat it by DEVICE=$device $0 1 $seed"
        cat "$rows"
        grep -E 'FAILED|rror|panicked' "$log" | head -5
    fi
    ran=$((ran + 1))
done
while read -r word name; do
    if ! refused "$word" "$name"; then
        failed=$((failed + 1))
        echo "FAILED: rows with $word are not refused as \"$name\""
        tail -3 "$log"
    fi
done <<'END'
factor-items=3 work-items that are no power of four
steps=0 a number is zero or too large
other-vector=3 length of a vector
triangle=30 order of a triangle
END
echo "$ran of $count sets of 4 rows, $failed failures, $SECONDS s"
[ "$failed" -eq 0 ] && [ "$ran" -gt 0 ]
