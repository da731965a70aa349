#!/usr/bin/env bash
# The testers of the reference BLAS (Debian's libblas-test), with libsuperscalar_blas.so preloaded.
#
#     tests/drop_in.sh LIBRARY
#
# They are run as a user's program would be; with every product in tiles of 3, 5 and 64 on the runtime; and with all of them on simulated
# devices. LEVELS="1 2" leaves Level 3 out, TILES=5 the other sizes of tiles. The exit status is 0 if all pass, 1 if not, 2 if the library is not there, and 77 without the testers.

set -uo pipefail

library=$(realpath "${1:?LIBRARY}") || exit 2
[ -f "$library" ] || { echo "no such file: $library" >&2 && exit 2; }
programs=$(echo /usr/lib/*/blas)
[ -x "$programs/xblat3d" ] || { echo "SKIPPED: no libblas-test" && exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
status=0

# pass NAME VARIABLE=VALUE...: runs all testers with these variables.
pass() {
    local name=$1 letter level failed=() count=0
    shift
    for letter in s d c z; do
        for level in "${levels[@]}"; do
            rm -f ./*.out
            local input=/dev/null inputs=/dev/null
            [ "$level" = 1 ] || { input=$programs/${letter}blat$level.in inputs=$programs/${letter}in$level; }
            run "$programs/xblat$level$letter" "$input" "$@" || failed+=("xblat$level$letter")
            run "$programs/x${letter}cblat$level" "$inputs" "$@" || failed+=("x${letter}cblat$level")
            count=$((count + 2))
        done
    done
    if [ ${#failed[@]} -eq 0 ]; then echo "ok: $count testers, $name"; else echo "FAILED, $name: ${failed[*]}" && status=1; fi
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
    grep -qE 'PASS' ./*.out
}

read -ra levels <<<"${LEVELS:-1 2 3}"
pass "by default"
for nb in ${TILES:-3 5 64}; do
    pass "tiles of $nb" SUPERSCALAR_BLAS_THRESHOLD=0 SUPERSCALAR_BLAS_NB=$nb SUPERSCALAR_WORKERS=2
done
pass "on simulated devices" SUPERSCALAR_BLAS_THRESHOLD=0 SUPERSCALAR_BLAS_NB=5 SUPERSCALAR_WORKERS=2 \
    SUPERSCALAR_DEVICES=sim:0..2
exit "$status"
