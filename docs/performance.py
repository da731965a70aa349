#!/usr/bin/env python3
"""Measures the routines beside other libraries and writes docs/performance/cpu.md, its plot, and its summary.

    docs/performance.py --peer libopenblas.so.0 --peer libblis.so.4 --peer libmkl_rt.so [--quick] [--only NAME]
    docs/performance.py --plot

Peers are given as to the tester (PATH or PATH,PREFIX). Python 3 and Cargo are all that is needed. A run takes some 15
minutes on two cores, on which nothing else should run. `--plot` measures nothing: it draws docs/performance/cpu.svg and
writes the summary in docs/performance.md from the tables that are there. The part of docs/performance/cpu.md below the
marker is written by hand, and stays.
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
DOCUMENT = ROOT / "docs" / "performance" / "cpu.md"
PLOT = DOCUMENT.with_suffix(".svg")

sys.dont_write_bytecode = True
sys.path.insert(0, str(DOCUMENT.parent))
import figures  # noqa: E402  (it lies in the folder that was just added)

BY_HAND = "<!-- What follows is written by hand. -->"

LEVEL3 = "gemm,symm,syrk,syr2k,trmm,trsm,gemmt"
COMPLEX3 = LEVEL3 + ",hemm,herk,her2k"
FACTORIZATIONS = "potrf,getrf,geqrf"
ALL_CORES = ("Double precision, all cores", "The other precisions, all cores")
ONE_CORE = ("Double precision, one thread",)
GROUPS = {"potrf": "Cholesky", "getrf": "LU", "geqrf": "QR"}
SIZE_RADII = {"512": 3.5, "2048": 5.0, "4096": 6.5}
PRECISION_COLORS = {"d": "#0072b2", "s": "#d55e00", "c": "#009e73", "z": "#aa4499"}


def wanted_double(row):
    """The ratio aimed at in double precision with all cores."""
    small = row["n"] <= 512
    aims = {"getrf": (1.1, 1.2), "geqrf": (1.5, 1.5), "potrf": (1.0, 1.2)}
    return aims.get(row["routine"], (1.0, 1.1))[0 if small else 1]


def wanted_equal(_):
    return 1.0


def wanted_tall(row):
    return 3.0 if row["routine"] == "tsqr" else 1.0


# Name, heading (none: belongs to the one before), routines, other arguments of the tester, and the ratio aimed at for a
# row.
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
    """The rows of the tester, one for each case and peer.

    The first result of each case is checked, ours and the peer's.

    Matrices have no padding, which the tester would add to small matrices that it checks.
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
    lines = [
        "| routine | size | GFLOP/s | fastest peer | GFLOP/s | ratio | wanted |",
        "|---|---|---|---|---|---|---|",
    ]
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


def summary(rows):
    """The tables of the summary: medians and least ratios, by group of routines and by precision."""
    head = ["Ratio"] + [f"{letter}: {what}" for letter in "dscz" for what in ("median", "least")]
    lines = []
    for where, sections in (("all cores", ALL_CORES), ("one core", ONE_CORE)):
        for group in ("Level 3", *GROUPS.values()):
            line = [f"{group}, {where}"]
            for letter in "dscz":
                chosen = [row for row in rows if row.section in sections and row.precision == letter]
                line += figures.median_and_least([row for row in chosen if group_of(row) == group])
            lines.append(line)
    parts = [figures.markdown(head, lines)]
    lines = []
    for title, routines, size_of_rows in (
        ("QR of 200000 x 64 by `tsqr`, d", ("tsqr",), "200000 x 64"),
        ("`gesv` and `posv`, d and z, order 4096", ("gesv", "posv"), "4096"),
        ("the same with refinement from s and c", ("gesv_mixed", "posv_mixed"), "4096"),
    ):
        chosen = [row for row in rows if row.operation in routines and row.size == size_of_rows]
        lines.append([title, *figures.median_and_least(chosen)])
    parts.append(figures.markdown(["Ratio, all cores", "median", "least"], lines))
    return "\n\n".join(parts)


def group_of(row):
    return GROUPS.get(row.operation, "Level 3")


def plot(rows, machine, date):
    """Draws the ratios of all cores: a row for each routine, a color for each precision, a radius for each size."""
    rows = [row for row in rows if row.section in ALL_CORES and row.ratio is not None]
    routines = list(dict.fromkeys(row.operation for row in rows))
    left, right, top, lane = 90, 930, 112, 9
    step = 4 * lane + 4
    bottom = top + step * len(routines)
    title = f"Our rate over the fastest peer's: {machine}, {date}"
    drawing = figures.Drawing(960, bottom + 62, title)
    drawing.text(20, 32, title, size=18, weight="bold")
    place = figures.log_axis(0.8, 2.5, left, right)
    legend(drawing)
    for index, routine in enumerate(routines):
        if index % 2 == 0:
            drawing.band(10, top + step * index, 940, step)
        drawing.text(left - 14, top + step * (index + 0.5) + 5, routine, anchor="end", size=15)
    for value in (0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5):
        is_one = value == 1.0
        color, width = ("#333333", 2.0) if is_one else ("#dddddd", 1.0)
        drawing.line(place(value), top, place(value), bottom, color, width)
        drawing.text(place(value), bottom + 20, f"{value:.1f}", anchor="middle", weight="bold" if is_one else None)
    drawing.text((left + right) / 2, bottom + 46, "times the rate of the fastest peer (logarithmic)", anchor="middle")
    for row in sorted(rows, key=lambda row: -int(row.size)):
        color, tip = PRECISION_COLORS[row.precision], f"{row.routine} {row.size}: {row.ratio:.2f}"
        y = top + step * routines.index(row.operation) + 2 + lane * ("dscz".index(row.precision) + 0.5)
        if row.ratio > 2.5:
            drawing.arrow(right + 12, y, color, tip)
            drawing.text(right, y + 4, f"{row.ratio:.2f}", anchor="end", size=12, color=color)
        else:
            drawing.dot(place(row.ratio), y, SIZE_RADII.get(row.size, 5.0), color, tip=tip)
    drawing.write(PLOT)


def legend(drawing):
    x = 20
    for letter, what in (("d", "double"), ("s", "single"), ("c", "complex single"), ("z", "complex double")):
        drawing.dot(x + 7, 62, 5.0, PRECISION_COLORS[letter])
        drawing.text(x + 18, 67, f"{letter}, {what}")
        x += 46 + 8 * len(f"{letter}, {what}")
    x = 20
    for name, radius in SIZE_RADII.items():
        drawing.dot(x + 7, 88, radius, "#555555")
        drawing.text(x + 18, 93, f"order {name}")
        x += 120
    drawing.text(x, 93, "right of 1.0 ours is faster", color="#555555")


def redraw():
    """Draws the plot and writes the summary from the tables of the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = figures.tables(text)
    date = re.search(r"on (\d{4}-\d{2}-\d{2})", text).group(1)
    machine = re.search(r"- Machine: (.*?);", text).group(1)
    plot(rows, machine, date)
    gained = [float(times) for times in re.findall(r"_mixed: ([0-9.]+) times as fast", text)]
    refined = f"Refinement is {min(gained):.2f} to {max(gained):.2f} times as fast as the plain solution."
    figures.replace_summary("CPU", f"{machine}, {date}:\n\n{summary(rows)}\n\n{refined}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], help="a library: PATH or PATH,PREFIX")
    parser.add_argument("--quick", action="store_true", help="leaves out the large sizes, and writes no document")
    names = ", ".join(measurement[0] for measurement in MEASUREMENTS)
    parser.add_argument("--only", action="append", help=f"only these, and writes no document: {names}")
    parser.add_argument("--plot", action="store_true", help="measures nothing; writes the plot and the summary")
    options = parser.parse_args()
    if options.plot:
        redraw()
        return
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
    old = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    by_hand = old[old.index(BY_HAND) :] if BY_HAND in old else BY_HAND + "\n"
    peers = ", ".join(pathlib.Path(peer.split(",")[0]).name for peer in options.peer)
    known = [name for name in ("OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE") if name in os.environ]
    settings = " ".join(f"{name}={os.environ[name]}" for name in known)
    head = f"""# Performance on CPUs

Written by `docs/performance.py` on {datetime.date.today()}.

- Machine: {processor()}, {os.cpu_count()} cores; {peak}
- Peers: {peers}; {settings or "no settings"}

Peers run in the same process, by turns; figures are medians. Of each row the first result was checked, ours and the
peer's. "ratio" is our rate over that of the fastest peer, "wanted" what we aim at. A row that falls short of its aim
is marked; below the tables stands why.
"""
    DOCUMENT.write_text(head + "".join(parts) + "\n" + by_hand, encoding="utf-8")
    redraw()


if __name__ == "__main__":
    main()
