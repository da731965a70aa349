#!/usr/bin/env bash
# Makes the traces of this gallery anew: traces/gallery/make.sh FOLDER
#
# Each is the fastest of nine runs on four workers, so that what it shows is the program's doing and not another's. The tester has to
# be built: cargo build --release --bin tester (or TESTER names it).
set -euo pipefail
folder=${1:?the folder that the traces go to}
tester=${TESTER:-${CARGO_TARGET_DIR:-target}/release/tester}

# trace NAME POLICY ROUTINE DIM COLUMNS
trace() {
    local best='' seconds
    for _ in 1 2 3 4 5 6 7 8 9; do
        seconds=$(SUPERSCALAR_TRACE="$folder/run.json" "$tester" "$3" --dim "$4" --nb "$5" --policy "$2" --workers 4 \
            --repeat 1 --check n --format json | sed -n 's/.*"seconds": *\([^,}]*\).*/\1/p' | tail -n 1)
        if [ -z "$best" ] || awk "BEGIN { exit !($seconds < $best) }"; then
            best=$seconds
            mv "$folder/run.json" "$folder/$1.json"
        fi
    done
    rm -f "$folder/run.json"
    echo "$1: $best s"
}

trace no-lookahead fifo geqrf 2048 128
trace lookahead priority geqrf 2048 128
trace starving-panel priority geqrf 8192x512 64
trace lu priority getrf 2048 192
trace cholesky priority potrf 2048 192
