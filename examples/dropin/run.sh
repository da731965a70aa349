#!/usr/bin/env bash
# Runs the scripts of this folder without and with the drop-in library, and writes a trace of each run with the library.
#
#     examples/dropin/run.sh LIBRARY [FOLDER]
#
# FOLDER is the folder for traces (default traces-dropin). A trace must contain the tasks that the script is expected to
# use. If target/release/superscalar-trace is built, it checks the traces. A script whose program is not installed is
# skipped. The exit status is 1 if a script or a trace is wrong.

set -uo pipefail

library=$(realpath "${1:?LIBRARY}") && [ -f "$library" ] || exit 2
folder=${2:-traces-dropin}
here=$(dirname "$0") checker=$(dirname "$0")/../../target/release/superscalar-trace
mkdir -p "$folder" || exit 2
status=0

# run SCRIPT "TASKS" PROGRAM...: runs the script with the program, and expects these tasks in the trace.
run() {
    local script=$1 tasks=$2 trace="$folder/$1.json" task
    shift 2
    command -v "$1" >/dev/null || { echo "== $script: skipped, no $1" && return; }
    echo "== $script" && "$@" "$here/$script" || status=1
    rm -f "$trace"
    echo "== $script, with the library"
    SUPERSCALAR_TRACE="$trace" LD_PRELOAD="$library" "$@" "$here/$script" || status=1
    for task in $tasks; do
        grep -q "\"name\": *\"$task\"" "$trace" || { echo "no $task in $trace" && status=1; }
    done
    [ ! -x "$checker" ] || "$checker" check "$trace" || status=1
}

run ridge.py "gemm potrf getrf geqrf" "${PYTHON:-python3}"
run covariance.R "potrf getrf" Rscript
run systems.m "getrf geqrf potrf gemm" octave-cli
exit "$status"
