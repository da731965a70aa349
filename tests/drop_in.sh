#!/usr/bin/env bash
# Runs the testers of the reference BLAS and LAPACK (Debian's libblas-test and liblapack-test) with
# libsuperscalar_blas.so preloaded.
#
#     tests/drop_in.sh LIBRARY
#
# The testers run with the default settings; with every call on the runtime in tiles of 3, 5 and 64; and with every call
# on simulated devices. If all calls go to the runtime, LAPACK's testers test only the routines that the library
# implements, with one block size.
#
# LEVELS="1 2" omits Level 3 and LAPACK (which is level 4). DEVICES=cuda:0 runs only on these devices. QUICK=1 omits
# tiles of 3 and 64, all types but s and z of LAPACK in tiles, all types but z of LAPACK and of CBLAS's Level 3 on
# devices, and by default the routines of LAPACK that the library does not implement, in all types but z.
#
# The exit status is 0 if all pass, 1 if one fails, 2 if the library does not exist, and 77 without the testers.

set -uo pipefail

library=$(realpath "${1:?LIBRARY}") || exit 2
[ -f "$library" ] || { echo "no such file: $library" >&2 && exit 2; }
programs=$(echo /usr/lib/*/blas) lapack=$(echo /usr/lib/*/lapack)
[ -x "$programs/xblat3d" ] || { echo "SKIPPED: no libblas-test" && exit 77; }
[ -x "$lapack/xlintstd" ] || { echo "SKIPPED: no liblapack-test" && exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
status=0

# pass NAME VARIABLE=VALUE...: runs all testers with these variables and prints a line with the result.
pass() {
    local name=$1 letter level pair failed
    shift
    count=0
    rm -rf ./*
    for letter in s d c z; do
        for level in "${levels[@]}"; do
            if [ "$level" = 4 ]; then
                is_omitted "$letter" "$@" || start "$lapack/xlintst$letter" "$(input "$letter" "$@")" "$@"
                continue
            fi
            local input=/dev/null inputs=/dev/null
            [ "$level" = 1 ] || { input=$programs/${letter}blat$level.in inputs=$programs/${letter}in$level; }
            start "$programs/xblat$level$letter" "$input" "$@"
            if [[ $level = 3 && $* = *DEVICES* ]] && is_omitted "$letter" "$@"; then continue; fi
            start "$programs/x${letter}cblat$level" "$inputs" "$@"
        done
    done
    for pair in $([[ " ${levels[*]} " = *" 4 "* ]] && echo ds zc); do
        is_omitted "$pair" "$@" || start "$lapack/xlintst$pair" "$(input "$pair" "$@")" "$@"
    done
    wait
    failed=$(cat failed.* 2>/dev/null | paste -sd ' ')
    if [ -z "$failed" ]; then
        echo "ok: $count testers, $name"
    else
        echo "FAILED, $name: $failed" && status=1
    fi
}

# start PROGRAM INPUT VARIABLE=VALUE...: runs a tester in a folder of its own, beside at most one other tester. The file
# with its name is removed if it passes.
start() {
    while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n; done
    count=$((count + 1))
    local at=$count
    mkdir "$at"
    echo "${1##*/}" >"failed.$at"
    (cd "$at" && run "$@" && rm "../failed.$at") &
}

# is_omitted LETTER VARIABLE...: whether QUICK omits this type of LAPACK, and on devices of CBLAS's Level 3.
is_omitted() {
    [[ -n ${QUICK:-} && ( $1 != z && $* = *DEVICES* || $1 != [sz] && $* = *NB=* ) ]]
}

# input LETTER VARIABLE...: prints the name of the input file of xlintst. By default it tests all routines; with
# variables, and for most types with QUICK, only those of the library with one block size. On devices it tests fewer
# sizes and two types of matrices, since small calls are slow there. Least squares also need a third type, of full rank:
# without one the reference's ZDRVLS (3.11) allocates a workspace of uninitialized size. The block sizes have no effect
# on this library.
input() {
    local letter=$1 given=$lapack/${1}test.in sizes=
    [[ $# -gt 1 || ( -n ${QUICK:-} && $letter != z ) ]] || { echo "$given" && return; }
    [[ $* != *DEVICES* ]] || sizes="5 50"
    awk -v ours="^$letter(GE|PO|TR|QR|LQ|LS) " -v sizes="$sizes" 'toupper($0) ~ toupper(ours) && !sizes { print; next }
        toupper($1) ~ /^.LS$/ { print $1 " 3"; print "1 4 6"; next }
        toupper($0) ~ toupper(ours) { print $1 " 2"; print "4 6"; next }
        /Number of values of NB/ { print "1"; getline; print "3"; getline; print "0"; next }
        sizes && /Number of values of [MN] *$/ { print "2"; getline; print sizes; next }
        sizes && /Number of values of NRHS/ { print "1"; getline; print "2"; next }
        !/List types/ && NF > 1 { print }' "$given" >"$letter.in"
    echo "$folder/$letter.in"
}

# run PROGRAM INPUT VARIABLE=VALUE...: whether the tester passes. A tester writes to standard output or to its own file.
run() {
    local program=$1 input=$2
    shift 2
    # Weights of earlier runs are not read: the runtime reports it if a busy machine contradicts them.
    env SUPERSCALAR_WEIGHTS=off "$@" LD_PRELOAD="$library" \
        timeout 300 "$program" <"$input" >output.out 2>errors.out || { cat errors.out && return 1; }
    # The exit status of a tester is 0 even if it finds errors.
    if grep -qiE 'FAIL|FATAL|SUSPECT|ABANDONED|superscalar:|ld\.so' ./*.out; then
        grep -hiE -m 3 'FAIL|FATAL|SUSPECT|ABANDONED|superscalar:|ld\.so' ./*.out
        return 1
    fi
    grep -qiE 'PASS' ./*.out
}

read -ra levels <<<"${LEVELS:-1 2 3 4}"
if [ -z "${DEVICES:-}" ]; then
    pass "by default"
    for nb in $([ -n "${QUICK:-}" ] && echo 5 || echo 3 5 64); do
        pass "tiles of $nb" SUPERSCALAR_BLAS_THRESHOLD=0 SUPERSCALAR_BLAS_NB=$nb SUPERSCALAR_WORKERS=2
    done
fi
pass "on ${DEVICES:-simulated devices}" SUPERSCALAR_BLAS_THRESHOLD=0 SUPERSCALAR_BLAS_NB=5 SUPERSCALAR_WORKERS=2 \
    SUPERSCALAR_DEVICES="${DEVICES:-sim:0..2}"
exit "$status"
