#!/usr/bin/env bash
# The scripts of this folder without and with the drop-in library, each with a trace of what the library did.
#
#     examples/dropin/run.sh LIBRARY [FOLDER]
#
# Traces go to FOLDER (traces-dropin), are checked where target/release/superscalar-trace is built, and must hold the tasks that the script is
# about. A script whose program is not installed is left out. The exit status is 1 if a script or a trace is wrong.

set -uo pipefail

library=$(realpath "${1:?LIBRARY}") && [ -f "$library" ] || exit 2
folder=${2:-traces-dropin}
here=$(dirname "$0") checker=$(dirname "$0")/../../target/release/superscalar-trace
mkdir -p "$folder" || exit 2
status=0

# run SCRIPT "TASKS" PROGRAM...: the script by the program.
run() {
    local script=$1 tasks=$2 trace="$folder/$1.json" task
    shift 2
    command -v "$1" >/dev/null || { echo "== $script: left out, no $1" && return; }
    echo "== $script" && "$@" "$here/$script" || status=1
    rm -f "$trace"
    echo "== $script, with the library" && SUPERSCALAR_TRACE="$trace" LD_PRELOAD="$library" "$@" "$here/$script" || status=1
    for task in $tasks; do
        grep -q "\"name\": *\"$task\"" "$trace" || { echo "no $task in $trace" && status=1; }
    done
    [ ! -x "$checker" ] || "$checker" check "$trace" || status=1
}

run ridge.py "gemm potrf getrf geqrf" "${PYTHON:-python3}"
run covariance.R "potrf getrf" Rscript
run systems.m "getrf geqrf potrf gemm" octave-cli
exit "$status"
