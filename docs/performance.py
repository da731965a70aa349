#!/usr/bin/env python3
"""Measures the routines beside other libraries and writes the tables of docs/performance.md.

    docs/performance.py --peer libopenblas.so.0 --peer libblis.so.4 --peer libmkl_rt.so [--quick] [--only NAME]

Peers are given as to the tester (PATH or PATH,PREFIX). Python 3 and Cargo are all that is needed; it takes some 15 minutes on
two cores, of which nothing else should run. What stands in the document below the line that says so is left as it is.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "performance.md"
BY_HAND = "<!-- What follows is written by hand. -->"

LEVEL3 = "gemm,symm,syrk,syr2k,trmm,trsm,gemmt"
COMPLEX3 = LEVEL3 + ",hemm,herk,her2k"
FACTORIZATIONS = "potrf,getrf,geqrf"



def wanted_double(row):
    """The ratio aimed at in double precision with all cores."""
    small = row["n"] <= 512
    aims = {"getrf": (1.1, 1.2), "geqrf": (1.5, 1.5), "potrf": (1.0, 1.2)}
    return aims.get(row["routine"], (1.0, 1.1))[0 if small else 1]


def wanted_equal(_):
    return 1.0


def wanted_tall(row):
    return 3.0 if row["routine"] == "tsqr" else 1.0


# Name, heading (none: belongs to the one before), routines, other arguments of the tester, and the ratio aimed at for a row.
MEASUREMENTS = [
    (
        "double",
        "Double precision, all cores",
        f"{LEVEL3},{FACTORIZATIONS}",
        "--type d --dim 512,2048,4096 --repeat 5",
        wanted_double,
    ),
    (
        "others",
        "The other precisions, all cores",
        f"{LEVEL3},{FACTORIZATIONS}",
        "--type s --dim 512,2048 --repeat 5",
        wanted_equal,
    ),
    ("complex", None, f"{COMPLEX3},{FACTORIZATIONS}", "--type c,z --dim 512,2048 --repeat 3", wanted_equal),
    (
        "alone",
        "Double precision, one thread",
        f"{LEVEL3},{FACTORIZATIONS}",
        "--type d --dim 64,128,256,512,1024 --repeat 9 --workers 1",
        wanted_equal,
    ),
    (
        "alone-others",
        None,
        f"{COMPLEX3},{FACTORIZATIONS}",
        "--type s,c,z --dim 64,256 --repeat 9 --workers 1",
        wanted_equal,
    ),
    (
        "tall",
        "A tall matrix: tsqr beside the peers' geqrf",
        "tsqr,geqrf",
        "--type d --dim 200000x64 --repeat 7",
        wanted_tall,
    ),
    (
        "mixed",
        "Solving with one right-hand side, in double precision and by refinement from single",
        "gesv,gesv_mixed,posv,posv_mixed",
        "--type d,z --dim 4096 --nrhs 1 --repeat 3",
        wanted_equal,
    ),
]


def measure(routines, arguments, peers, tester, quick):
    """The rows of the tester, one for each case and peer. Of each case the first result is checked, and the peers' as well.

    Matrices are as they would be unchecked: without padding, which the tester adds to small ones that it checks.
    """
    words = [routines] + arguments.split() + ["--ld-pad", "0", "--format", "json"]
    if quick:
        words[words.index("--dim") + 1] = re.sub(r",(2048|4096)", "", words[words.index("--dim") + 1])
    for peer in peers:
        words += ["--peer", peer]
    # A failed check is the status of the tester; `best` says which.
    done = subprocess.run([tester, *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"the tester ended with {done.returncode}: {' '.join(words)}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def best(rows):
    """One row per case: against the fastest peer that has the routine."""
    cases = {}
    for row in rows:
        if row["status"] != "ok" or row["error"] is None:
            sys.exit(f"not checked, or wrong: {row}")
        key = tuple(row[name] for name in ("type", "routine", "m", "n", "k", "workers"))
        known = cases.get(key)
        if known is None or (row["peer_gflops"] or 0) > (known["peer_gflops"] or 0):
            cases[key] = row
    return list(cases.values())


def size(row):
    dims = [row[name] for name in ("m", "n", "k") if row[name] is not None]
    return str(dims[0]) if len(set(dims)) == 1 else " x ".join(map(str, dims))


def table(rows, wanted):
    lines = ["| routine | size | GFLOP/s | fastest peer | GFLOP/s | ratio | wanted |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        name, peer = row["type"] + row["routine"], row["peer_gflops"]
        if not peer:
            lines.append(f"| {name} | {size(row)} | {row['gflops']:.1f} | none has it | | | |")
            continue
        aim = wanted(row)
        short = " **short**" if row["ratio"] < aim else ""
        peer_name = re.sub(r"^lib|\.so.*$", "", pathlib.Path(row["peer"]).name)
        rates = f"{row['gflops']:.1f} | {peer_name} | {peer:.1f} | {row['ratio']:.2f}{short}"
        lines.append(f"| {name} | {size(row)} | {rates} | {aim:.1f} |")
    return "\n".join(lines)


def gains(rows):
    """How much faster refinement from the lower precision is."""
    seconds = {(row["type"], row["routine"]): row["seconds"] for row in rows}
    lines = []
    for letter, plain in sorted(key for key in seconds if not key[1].endswith("_mixed")):
        mixed = seconds.get((letter, plain + "_mixed"))
        if mixed:
            ratio = seconds[letter, plain] / mixed
            lines.append(f"- {letter}{plain}_mixed: {ratio:.2f} times as fast as {letter}{plain}")
    return "\n".join(lines)


def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*: (.*)", text)
    return found.group(1) if found else "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], help="a library: PATH or PATH,PREFIX")
    parser.add_argument("--quick", action="store_true", help="leaves out the large sizes, and does not touch the document")
    names = ", ".join(measurement[0] for measurement in MEASUREMENTS)
    parser.add_argument("--only", action="append", help=f"only these, and does not touch the document: {names}")
    options = parser.parse_args()
    build = ["cargo", "build", "--release", "-p", "superscalar-tester", "--message-format", "json"]
    built = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    executables = [json.loads(line).get("executable") for line in built.splitlines() if line.startswith("{")]
    tester = next(path for path in executables if path and os.path.basename(path) == "tester")
    head = subprocess.run([tester, "swap", "--dim", "1"], stdout=subprocess.PIPE, text=True, check=True).stdout
    peak = re.search(r"multiply-add peak.*", head).group(0)
    parts, tables = [], {}
    for name, title, routines, arguments, wanted in MEASUREMENTS:
        if options.only and name not in options.only:
            continue
        rows = best(measure(routines, arguments, options.peer, tester, options.quick))
        text = f"\n## {title}\n\n" if title else "\n"
        text += table(rows, wanted) + "\n"
        if name == "mixed":
            text += "\n" + gains(rows) + "\n"
        print(text, flush=True)
        parts.append(text)
    if options.quick or options.only:
        return
    old = DOCUMENT.read_text() if DOCUMENT.exists() else ""
    by_hand = old[old.index(BY_HAND) :] if BY_HAND in old else BY_HAND + "\n"
    peers = ", ".join(pathlib.Path(peer.split(",")[0]).name for peer in options.peer)
    known = [name for name in ("OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE") if name in os.environ]
    settings = " ".join(f"{name}={os.environ[name]}" for name in known)
    head = f"""# Performance

Written by `docs/performance.py` on {datetime.date.today()}.

- Machine: {processor()}, {os.cpu_count()} cores; {peak}
- Peers: {peers}; {settings or "no settings"}

Peers run in the same process, by turns; figures are medians. Of each row the first result was checked, ours and the peer's.
"ratio" is our rate over that of the fastest peer, "wanted" what we aim at; a row that falls short says so, and below the tables
stands why.
"""
    DOCUMENT.write_text(head + "".join(parts) + "\n" + by_hand)


if __name__ == "__main__":
    main()
