#!/usr/bin/env python3
"""Measures batches of small problems beside other libraries and writes docs/performance/batched.md.

    docs/performance_batched.py measure --tester PATH --out cpu.jsonl --peer LIB[,PREFIX] [--peer LIB] [--workers N]
    docs/performance_batched.py measure --tester PATH --out gpu.jsonl --device cuda:0 [--device-peer cublas]
    docs/performance_batched.py write cpu.jsonl gpu.jsonl [torch.jsonl]

`measure` needs only the tester, built anywhere. It writes a line for each row as soon as a case is
done, and names the cases for which no time was left. With `--device`, matrices are in the memory of the device, and
the peers are cuBLAS and cuSOLVER. `write` needs no tester: it takes rows of several runs, each with its machine, and
rows of docs/performance/batched_torch.py, and takes no row that failed its check. The part of the document below the
marker is written by hand, and stays.
"""

import argparse
import datetime
import json
import pathlib
import platform
import re
import subprocess
import sys
import time

DOCUMENT = pathlib.Path(__file__).resolve().parent / "performance" / "batched.md"
BY_HAND = "<!-- What follows is written by hand. -->"
LETTERS = "--uplo l --side l --transa n --transb n --diag n --nrhs 1 --alpha 1 --beta 1 --ld-pad 0"

# The title of each table, and the measurements in it.
TABLES = [
    ("Uniform batches", ("small", "medium", "forms")),
    ("Vectors", ("vectors",)),
    ("Random sizes, beside the same sizes sorted", ("random", "sorted")),
]
# Name, routines, sizes, problems, other arguments of the tester.
HOST = [
    ("small", "gemm,potrf,getrf,getrf_nopiv,geqrf", "4,8,16,32", 100_000, ""),
    ("random", "gemm,potrf,getrf,geqrf", "16,32", 100_000, "--batch-sizes random"),
    ("sorted", "gemm,potrf,getrf,geqrf", "16,32", 100_000, "--batch-sizes sorted"),
]
DEVICE = [
    ("small", "gemm,trsm,potrf,getrf,geqrf", "8,16,32,64", 10_000, ""),
    ("medium", "gemm,trsm,potrf,getrf,geqrf", "128,256,512", 1000, ""),
    ("forms", "gebrd", "128,256,512", 1000, ""),
    ("vectors", "gemv,trsv", "128,256,512", 1000, ""),
    ("random", "gemm,potrf,getrf", "256,512", 1000, "--batch-sizes random"),
    ("sorted", "gemm,potrf,getrf", "256,512", 1000, "--batch-sizes sorted"),
]


def machine(options):
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8") if sys.platform == "linux" else ""
    found = re.search(r"model name\s*: (.*)", text)
    host = found.group(1) if found else platform.processor() or "an unknown processor"
    if not options.device:
        return host
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        names = subprocess.run(query, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
        return names[0].strip() or options.device
    except (OSError, subprocess.CalledProcessError):
        return options.device


def measure(options):
    begun, left_out, where = time.monotonic(), [], machine(options)
    place = ["--devices", options.device, "--location", "device"] if options.device else []
    place += ["--workers", str(options.workers)] if options.workers else []
    peers = options.device_peer if options.device else options.peer
    place += [word for peer in peers for word in ("--peer", peer)]
    with open(options.out, "a", encoding="utf-8") as out:
        for name, routines, sizes, count, arguments in DEVICE if options.device else HOST:
            if options.only and name not in options.only.split(","):
                continue
            cases = ((routine, size) for size in sizes.split(",") for routine in routines.split(","))
            for routine, size in cases:
                left = options.seconds - (time.monotonic() - begun)
                rows = []
                if left > 10:
                    words = [options.tester, routine, "--dim", size, "--type", options.type]
                    words += ["--batch", str(options.count or count), *arguments.split(), *place, *LETTERS.split()]
                    words += ["--repeat", str(options.repeat), "--format", "json"]
                    rows = run(words, left)
                if not rows:
                    left_out.append(f"{name}: {routine} {size}")
                for row in rows:
                    line = row | {"measurement": name, "machine": where, "size": int(size)}
                    out.write(json.dumps(line) + "\n")
                    print(line_of(line), flush=True)
                out.flush()
    for what in left_out:
        print(f"left out: {what}")


def run(words, seconds):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return []
    if done.returncode not in (0, 1):
        sys.exit(f"the tester ended with {done.returncode}: {' '.join(words)}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def number(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def line_of(row):
    return (f"{row['type']}{row['routine']} {row['size']} {row['batch_sizes']}: {number(row['gflops'])} GFLOP/s, "
            f"{row['peer'] or 'no peer'} {number(row['peer_gflops'])}, {row['status']} {row['reason'] or ''}")


def checked(row):
    if row["status"] != "ok" or row["error"] is None:
        sys.exit(f"not checked, or wrong: {line_of(row)}")
    return row


def by_case(rows):
    """The rows of each case, whose peers have a row each."""
    cases = {}
    for row in rows:
        cases.setdefault((row["type"] + row["routine"], row["size"], row["batch"], row["batch_sizes"]), []).append(row)
    return cases


def markdown(head, lines):
    rows = ["| " + " | ".join(line) + " |" for line in [head, *lines]]
    return "\n".join([rows[0], "|" + "---|" * len(head), *rows[1:]])


def short(peer):
    """The peer's name without what only its file has."""
    return peer.removeprefix("scipy_").replace("mkl_rt/", "mkl/")


def uniform(rows):
    """A line for each case: our rate, and what it is over that of each peer."""
    peers = list(dict.fromkeys(row["peer"] for row in rows if row["peer"] and row["peer_gflops"]))
    lines = []
    for (name, size, count, _), of_case in by_case(rows).items():
        found = {row["peer"]: row for row in of_case}
        line = [name, f"{size}, {count}", number(of_case[0]["gflops"])]
        for peer in peers:
            row = found.get(peer)
            has = row is not None and row["peer_gflops"] and row["gflops"]
            line.append(number(row["gflops"] / row["peer_gflops"]) if has else "")
        lines.append(line)
    return markdown(["routine", "size, count", "GFLOP/s", *map(short, peers)], lines)


def beside_sorted(rows):
    """A line for each case: the rate of random sizes, and that of the same sizes sorted."""
    rates = {key: of_case[0]["gflops"] for key, of_case in by_case(rows).items()}
    lines = []
    for (name, size, count, sizes), rate in rates.items():
        ordered = rates.get((name, size, count, "sorted"))
        if sizes == "random":
            share = rate / ordered if rate and ordered else None
            lines.append([name, f"1 to {size}", str(count), number(rate), number(ordered), number(share)])
    return markdown(["routine", "sizes", "problems", "GFLOP/s", "sorted", "random over sorted"], lines)


def torch_table(rows):
    lines = []
    for row in rows:
        cells = [row["type"] + row["routine"], str(row["size"]), str(row["batch"]), row["peer"]]
        lines.append([*cells, number(row["peer_gflops"]), f"{row['peer_seconds'] * 1e3:.3f}"])
    return markdown(["routine", "size", "problems", "library", "GFLOP/s", "ms"], lines)


def sections(rows):
    """The tables of one machine."""
    parts, rows = [], [checked(row) for row in rows if row["measurement"] != "torch"]
    for title, names in TABLES:
        chosen = [row for row in rows if row["measurement"] in names]
        table = beside_sorted if "sorted" in names else uniform
        if chosen:
            parts.append(f"### {title}\n\n{table(chosen)}\n")
    return parts


def write(options):
    text = "".join(pathlib.Path(path).read_text(encoding="utf-8") for path in options.rows)
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    if not rows:
        sys.exit("there are no rows in these files")
    parts = []
    for where, place in dict.fromkeys((row["machine"], row["location"]) for row in rows):
        chosen = [row for row in rows if (row["machine"], row["location"]) == (where, place)]
        workers = max(row["workers"] or 0 for row in chosen)
        memory = f"{workers} workers, matrices in host memory" if place == "host" else "matrices on the device"
        parts.append(f"## {where}, {memory}\n")
        parts += sections(chosen)
        torch = [row for row in chosen if row["measurement"] == "torch"]
        if torch:
            parts.append(f"### PyTorch\n\n{torch_table(torch)}\n")
    old = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    by_hand = old[old.index(BY_HAND):] if BY_HAND in old else BY_HAND + "\n"
    head = f"""# Performance of batches

Written by `docs/performance_batched.py` on {datetime.date.today()}. Peers in the same process, by turns; medians.

Rates are those of the whole batch. Below a peer's name is our rate over the peer's: above 1.0 ours is faster.
Of each batch, the results of 64 problems were checked, ours and the peer's, and the info of all. `/loop` is a call for
each problem, on all workers, `/batch` `cblas_?gemm_batch`, `/compact` MKL's compact routine, `/packing` the same with
copies to and from its format, `/batched` the routine of cuBLAS or cuSOLVER.
"""
    DOCUMENT.write_text(head + "\n" + "\n".join(parts) + "\n" + by_hand, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    how = commands.add_parser("measure")
    how.add_argument("--tester", required=True)
    how.add_argument("--out", required=True)
    how.add_argument("--peer", action="append", default=[], help="a library: PATH or PATH,PREFIX")
    how.add_argument("--device", help="measures on this device, such as cuda:0")
    how.add_argument("--device-peer", action="append", help="default: cublas and cusolver")
    how.add_argument("--workers", type=int)
    how.add_argument("--type", default="d")
    how.add_argument("--only", help="names of measurements: " + ", ".join(dict.fromkeys(m[0] for m in HOST + DEVICE)))
    how.add_argument("--count", type=int, help="problems of each batch, in place of the usual number")
    how.add_argument("--repeat", type=int, default=5)
    how.add_argument("--seconds", type=float, default=3600.0)
    how.set_defaults(run=measure)
    how = commands.add_parser("write")
    how.add_argument("rows", nargs="+")
    how.set_defaults(run=write)
    options = parser.parse_args()
    if getattr(options, "device", None) and options.device_peer is None:
        options.device_peer = ["cublas", "cusolver"]
    options.run(options)


if __name__ == "__main__":
    main()
