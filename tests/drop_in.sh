#!/usr/bin/env bash
# The testers of the reference BLAS and LAPACK (Debian's libblas-test and liblapack-test), with libsuperscalar_blas.so preloaded.
#
#     tests/drop_in.sh LIBRARY
#
# They are run as a user's program would be; with every call in tiles of 3, 5 and 64 on the runtime; and with all of them on simulated
# devices. LEVELS="1 2" leaves out Level 3 and LAPACK (which is level 4). QUICK=1 leaves out tiles of 3 and 64, of LAPACK on devices
# all types but z, and of LAPACK in tiles all but s and z. DEVICES=cuda:0 runs them on these devices alone. Where all calls go to the runtime, LAPACK's testers are
# asked for those routines alone that the library has, and for one block size.
#
# The exit status is 0 if all pass, 1 if not, 2 if the library is not there, and 77 without the testers.

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

# pass NAME VARIABLE=VALUE...: runs all testers with these variables.
pass() {
    local name=$1 letter level pair failed=() count=0
    shift
    for letter in s d c z; do
        for level in "${levels[@]}"; do
            rm -f ./*.out
            if [ "$level" = 4 ]; then
                ! is_left_out "$letter" "$@" || continue
                run "$lapack/xlintst$letter" "$(input "$letter" "$@")" "$@" || failed+=("xlintst$letter")
                count=$((count + 1))
                continue
            fi
            local input=/dev/null inputs=/dev/null
            [ "$level" = 1 ] || { input=$programs/${letter}blat$level.in inputs=$programs/${letter}in$level; }
            run "$programs/xblat$level$letter" "$input" "$@" || failed+=("xblat$level$letter")
            run "$programs/x${letter}cblat$level" "$inputs" "$@" || failed+=("x${letter}cblat$level")
            count=$((count + 2))
        done
    done
    for pair in $([[ " ${levels[*]} " = *" 4 "* ]] && echo ds zc); do
        ! is_left_out "$pair" "$@" || continue
        rm -f ./*.out
        run "$lapack/xlintst$pair" "$(input "$pair" "$@")" "$@" || failed+=("xlintst$pair")
        count=$((count + 1))
    done
    if [ ${#failed[@]} -eq 0 ]; then echo "ok: $count testers, $name"; else echo "FAILED, $name: ${failed[*]}" && status=1; fi
}

# is_left_out LETTER VARIABLE...: whether LAPACK's tester of that type is.
is_left_out() {
    [[ -n ${QUICK:-} && ( $1 != z && $* = *DEVICES* || $1 != [sz] && $* = *NB=* ) ]]
}

# input LETTER VARIABLE...: the file that says what xlintst tests: all, or where there are variables what the library has; on devices in
# fewer sizes and with two kinds of matrices, since each small call takes a millisecond there. Least squares have a third
# kind, of full rank: without one the reference's ZDRVLS (3.11) allocates a workspace of a size that it never set. Block
# sizes are those of the reference, which is not asked.
input() {
    local letter=$1 given=$lapack/${1}test.in sizes=
    [ $# -gt 1 ] || { echo "$given" && return; }
    [[ $* != *DEVICES* ]] || sizes="5 50"
    awk -v ours="^$letter(GE|PO|TR|QR|LQ|LS) " -v sizes="$sizes" 'toupper($0) ~ toupper(ours) && !sizes { print; next }
        toupper($1) ~ /^.LS$/ { print $1 " 3"; print "1 4 6"; next }
        toupper($0) ~ toupper(ours) { print $1 " 2"; print "4 6"; next }
        /Number of values of NB/ { print "1"; getline; print "3"; getline; print "0"; next }
        sizes && /Number of values of [MN] *$/ { print "2"; getline; print sizes; next }
        sizes && /Number of values of NRHS/ { print "1"; getline; print "2"; next }
        !/List types/ && NF > 1 { print }' "$given" >"$letter.in"
    echo "$letter.in"
}

# run PROGRAM INPUT VARIABLE=VALUE...: whether it passes. What it writes goes to standard output or to a file of its own.
run() {
    local program=$1 input=$2
    shift 2
    env "$@" LD_PRELOAD="$library" timeout 300 "$program" <"$input" >output.out 2>errors.out || { cat errors.out && return 1; }
    # A tester ends well whatever it finds.
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
