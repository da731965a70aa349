#!/usr/bin/env python3
"""Measures the routines on NVIDIA GPUs beside cuBLASXt, cuSOLVER and cuSOLVERMg, and writes docs/performance/gpu.md.

    docs/performance_gpu.py measure --tester target/release/tester --gpus 1 --out one.jsonl
                                    [--only NAME,...] [--most 16384] [--seconds 500]
    docs/performance_gpu.py measure --tester target/release/tester --gpus 4 --out four.jsonl
    docs/performance_gpu.py write one.jsonl four.jsonl
    docs/performance_gpu.py --plot

`measure` needs the GPUs, the CUDA libraries and the tester, built anywhere. It writes a line for each row as soon as
that row is there. The tester checks the first result of each row. Rows for which no time was left are named at the end.
Each peer is called with each block size that is given here, and its best rate counts. `write` needs no GPU. It writes
the sections that were measured, docs/performance/gpu.svg, and the summary in docs/performance.md, and takes no row that
was not checked. A section of which nothing was measured stays as it is; of others all tables must have been measured.
`--plot` measures nothing: it writes the plot and the summary from the tables that are there.
"""

import argparse
import dataclasses
import datetime
import json
import pathlib
import re
import subprocess
import sys
import time

DOCUMENT = pathlib.Path(__file__).resolve().parent / "performance" / "gpu.md"
PLOT = DOCUMENT.with_suffix(".svg")

sys.dont_write_bytecode = True
sys.path.insert(0, str(DOCUMENT.parent))
import figures  # noqa: E402  (it lies in the folder that was just added)

BEGIN, END = "<!-- From here on written by docs/performance_gpu.py. -->", "<!-- Up to here. -->"
PRODUCTS = "symm,syrk,syr2k,trmm,trsm"
LETTERS = "--uplo l --side l --transa n --transb n --diag n"
XT = ("cublasxt,4096", "cublasxt,2048")
MG = ("cusolvermg,256", "cusolvermg,512")
FACTORIZATIONS = "potrf,getrf,geqrf"
RESIDENT = "--location device --device-memory 64G"
RESIDENT_AIMS = {
    "potrf": ("1.0x",) * 6,
    "getrf": ("1.1x",) * 3 + ("1.2x",) * 3,
    "geqrf": ("1.1x",) * 3 + ("1.3x",) * 3,
}

# Name, heading (none: belongs to the one before), GPUs, routines, sizes, peers, other arguments of the tester, and the
# rates in TFLOP/s, or ratios ("1.2x"), aimed at: by routine, then by size.
MEASUREMENTS = [
    ("gemm", "One GPU, matrices in pinned host memory", 1, "gemm", "8192,16384,32768", XT[:1], "--pinned y",
     {"gemm": (26, 45, 50)}),
    ("products", None, 1, PRODUCTS, "24576", XT[1:], "--pinned y",
     {name: (38,) for name in PRODUCTS.split(",")}),
    ("little-memory", "One GPU of which 8 GiB are used", 1, "gemm", "32768", (), "--pinned y --device-memory 8G",
     {"gemm": (45,)}),
    ("resident", "One GPU, matrices in its memory", 1, FACTORIZATIONS, "1024,2048,4096,8192,16384,32768",
     ("cusolver",), RESIDENT, RESIDENT_AIMS),
    ("resident-single", None, 1, FACTORIZATIONS, "1024,2048,4096,8192,16384", ("cusolver",), RESIDENT + " --type s",
     RESIDENT_AIMS),
    ("with-host", "One GPU and the host's cores, matrices in pinned host memory", 1, "potrf", "16384", (),
     "--pinned y --with-host", {}),
    ("without-host", None, 1, "potrf", "16384", (), "--pinned y", {}),
    ("gemm-4", "Four GPUs, matrices in pinned host memory", 4, "gemm", "16384,32768", XT, "--pinned y",
     {"gemm": (100, 165)}),
    ("products-4", None, 4, PRODUCTS, "32768", XT[1:], "--pinned y", {name: (110,) for name in PRODUCTS.split(",")}),
    ("potrf-4", None, 4, "potrf", "16384,32768,65536", MG, "--pinned y", {"potrf": (60, 110, 170)}),
    ("getrf-4", None, 4, "getrf,geqrf", "16384,32768", MG, "--pinned y", {"getrf": ("1.3x", "1.3x")}),
    ("out-of-core", "Four GPUs that have less memory together than the matrix takes", 4, "potrf", "32768", (),
     "--pinned y --device-memory 1G", {}),
]


def devices(gpus, words):
    names = ",".join(f"cuda:{gpu}" for gpu in range(gpus))
    if "--with-host" in words:
        words.remove("--with-host")
        names = "cpu," + names
    return ["--devices", names]


def measure(options):
    begun, left_out = time.monotonic(), []
    with open(options.out, "a", encoding="utf-8") as out:
        for name, _, gpus, routines, sizes, peers, arguments, _ in MEASUREMENTS:
            if gpus != options.gpus or (options.only and name not in options.only.split(",")):
                continue
            for routine, size in ((routine, size) for size in sizes.split(",") for routine in routines.split(",")):
                if int(size) > options.most:
                    left_out.append(f"{name}: {routine} {size}")
                    continue
                left = options.seconds - (time.monotonic() - begun)
                if left < 20:
                    left_out.append(f"{name}: {routine} {size}")
                    continue
                words = arguments.split()
                repeat = options.repeat if int(size) > 8192 else max(options.repeat, 11)
                words = [options.tester, routine, "--dim", size, *devices(gpus, words), *words, *LETTERS.split(),
                         "--repeat", str(repeat), "--format", "json"]
                words += [word for peer in peers for word in ("--peer", peer)]
                try:
                    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=left, check=False)
                    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
                except subprocess.TimeoutExpired:
                    rows = []
                if not rows:
                    left_out.append(f"{name}: {routine} {size}")
                for row in rows:
                    today = datetime.date.today().isoformat()
                    out.write(json.dumps(row | {"measurement": name, "date": today}) + "\n")
                    print(line_of(row), flush=True)
                out.flush()
    for what in left_out:
        print(f"left out: {what}")


def number(value, digits=1):
    return "" if value is None else f"{value:.{digits}f}"


def rate(gflops):
    return number(gflops and gflops / 1e3, 1 if (gflops or 0) >= 1e4 else 2)


def line_of(row):
    rates = [rate(row[key]) for key in ("gflops", "peer_gflops")]
    error = "not checked" if row["error"] is None else f"{row['error']:.1e}"
    return (f"{row['routine']} {size_of(row)}: {rates[0]} TFLOP/s, {row['peer'] or 'no peer'} {rates[1]}, "
            f"residual {error}, {row['status']} {row['reason'] or ''}")


def size_of(row):
    return max(row[name] or 0 for name in ("m", "n", "k"))


def best(rows):
    """One row for each case: beside the peer's best block size, by our median over its runs."""
    cases = {}
    for row in rows:
        key = (row["routine"], size_of(row))
        known = cases.get(key)
        if known is None or (row["peer_gflops"] or 0) > (known["peer_gflops"] or 0):
            cases[key] = row
    return [cases[key] for key in sorted(cases, key=lambda key: (PRODUCTS.find(key[0]), key))]


def table(rows, sizes, aims):
    lines = [
        "| routine | size | TFLOP/s | peer | TFLOP/s | ratio | wanted | residual |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in best(rows):
        if row["status"] != "ok" or row["error"] is None:
            sys.exit(f"not checked, or wrong: {row}")
        aim = dict(zip(map(int, sizes.split(",")), aims.get(row["routine"], ()))).get(size_of(row), "")
        reached = row["ratio"] if isinstance(aim, str) else row["gflops"] / 1e3
        is_short = aim != "" and (reached or 0) < float(str(aim).rstrip("x"))
        cells = [row["type"] + row["routine"], str(size_of(row)), rate(row["gflops"]), row["peer"] or "",
                 rate(row["peer_gflops"]), number(row["ratio"], 2),
                 f"{aim}{' **short**' if is_short else ''}",
                 "not checked" if row["error"] is None else f"{row['error']:.1e}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write(options):
    text = "".join(pathlib.Path(path).read_text(encoding="utf-8") for path in options.rows)
    rows = [json.loads(line) for line in text.splitlines()]
    old = DOCUMENT.read_text(encoding="utf-8")
    before, rest = old.split(BEGIN, 1) if BEGIN in old else (old.rstrip("\n") + "\n\n", END + "\n")
    written, after = rest.split(END, 1)
    known = dict(section.strip("\n").split("\n", 1) for section in written.split("\n### ")[1:])
    parts = ["## NVIDIA H200\n\nBy `docs/performance_gpu.py`. Peers in the same process, by turns; medians.\n"]
    titles = [title for _, title, *_ in MEASUREMENTS if title]
    for title in titles:
        parts.append(f"\n### {title}\n\n{section_of(title, rows) or known.get(title, 'Not measured.').strip()}\n")
    DOCUMENT.write_text(before + BEGIN + "\n\n" + "".join(parts) + "\n" + END + after, encoding="utf-8")
    redraw()


def section_of(title, rows):
    """The tables of a section, or nothing if none of them was measured."""
    tables, missing, dates, is_here = [], [], [], False
    for name, heading, _, _, sizes, _, _, aims in MEASUREMENTS:
        is_here = heading == title if heading else is_here
        found = [row for row in rows if row["measurement"] == name]
        if is_here and found:
            tables.append(table(found, sizes, aims))
            dates += [row["date"] for row in found]
            left_out = set(sizes.split(",")) - {str(size_of(row)) for row in found}
            if left_out:
                print(f"{name}: no rows of order {', '.join(sorted(left_out, key=int))}")
        elif is_here:
            missing.append(name)
    if tables and missing:
        sys.exit(f"{title}: {', '.join(missing)} not measured")
    return "\n\n".join([f"Measured {max(dates)}.", *tables]) if tables else None


@dataclasses.dataclass
class Panel:
    """One section of the document in the plot and in the summary; the axis is in TFLOP/s."""

    section: str
    place: str
    axis_end: int
    axis_step: int


PANELS = [
    Panel("One GPU, matrices in pinned host memory", "one H200, host memory", 60, 10),
    Panel("One GPU, matrices in its memory", "one H200, its own memory", 60, 10),
    Panel("Four GPUs, matrices in pinned host memory", "four H200, host memory", 200, 50),
]
GROUPS = {
    "products and trsm": ("gemm", *PRODUCTS.split(",")),
    "Cholesky": ("potrf",),
    "LU": ("getrf",),
    "QR": ("geqrf",),
}
OURS, PEER = "#0072b2", "#d55e00"


def plot(rows, date):
    """Draws our rate and the peer's: a panel for each setting, and a row for each routine and size."""
    left, right, step = 150, 850, 24
    panels = [(panel, [row for row in rows if row.section == panel.section]) for panel in PANELS]
    title = f"Rates on NVIDIA H200, double precision, {date}"
    height = 84 + sum(86 + step * len(chosen) for _, chosen in panels)
    drawing = figures.Drawing(960, height, title)
    drawing.text(20, 32, title, size=18, weight="bold")
    drawing.dot(27, 60, 5.5, OURS)
    drawing.text(40, 65, "Superscalar")
    drawing.dot(157, 60, 5.5, PEER, hollow=True)
    drawing.text(170, 65, "cuBLASXt, cuSOLVER or cuSOLVERMg")
    drawing.text(460, 65, "at the right: our rate over the peer's", color="#555555")
    top = 84
    for panel, chosen in panels:
        place = figures.linear_axis(panel.axis_end, left, right)
        drawing.text(20, top + 24, panel.section, size=15, weight="bold")
        first, bottom = top + 36, top + 36 + step * len(chosen)
        for value in range(0, panel.axis_end + 1, panel.axis_step):
            drawing.line(place(value), first, place(value), bottom, "#333333" if value == 0 else "#dddddd")
            unit = " TFLOP/s" if value == panel.axis_end else ""
            drawing.text(place(value), bottom + 20, f"{value}{unit}", anchor="middle")
        for index, row in enumerate(chosen):
            plot_row(drawing, row, first + step * (index + 0.5), place, right)
        top = bottom + 50
    drawing.write(PLOT)


def plot_row(drawing, row, y, place, right):
    drawing.text(138, y + 5, f"{row.routine} {row.size}", anchor="end")
    if row.peer_rate is not None:
        drawing.line(place(row.peer_rate), y, place(row.rate), y, "#999999", 2.0)
        drawing.dot(place(row.peer_rate), y, 5.5, PEER, hollow=True, tip=f"{row.peer}: {row.peer_rate} TFLOP/s")
    drawing.dot(place(row.rate), y, 5.5, OURS, tip=f"{row.rate} TFLOP/s")
    ratio = "no peer" if row.ratio is None else f"{row.ratio:.2f}"
    drawing.text(right + 90, y + 5, ratio, anchor="end", color="#777777" if row.ratio is None else None)


def summary(rows):
    """The table of the summary: by setting and group of routines, rates, and medians and least ratios."""
    lines = []
    for panel in PANELS:
        for group, operations in GROUPS.items():
            chosen = [row for row in rows if row.section == panel.section and row.operation in operations]
            if chosen:
                lines.append([panel.place, group, *cells(chosen)])
    return figures.markdown(["matrices on", "group", "TFLOP/s", "peer", "rows with peer", "median", "least"], lines)


def cells(chosen):
    rates = [row.rate for row in chosen]
    span = f"{min(rates)} to {max(rates)}" if len(rates) > 1 else f"{rates[0]}"
    peers = " ".join(sorted({row.peer for row in chosen if row.ratio is not None})) or "none"
    beside = sum(row.ratio is not None for row in chosen)
    return [span, peers, f"{beside} of {len(chosen)}", *figures.median_and_least(chosen)]


def redraw():
    """Draws the plot and writes the summary from the tables of the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = figures.tables(text)
    dates = sorted(set(re.findall(r"^Measured (\d{4}-\d{2}-\d{2})", text, re.MULTILINE)))
    date = " to ".join(sorted({dates[0], dates[-1]}))
    rows = [row for row in rows if row.routine.startswith("d")]
    plot(rows, date)
    figures.replace_summary("GPU", f"NVIDIA H200, double precision, {date}:\n\n{summary(rows)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", action="store_true", help="measures nothing; writes the plot and the summary")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers()
    how = commands.add_parser("measure")
    how.add_argument("--tester", required=True)
    how.add_argument("--gpus", type=int, required=True)
    how.add_argument("--out", required=True)
    how.add_argument("--only")
    how.add_argument("--most", type=int, default=1 << 30, help="the largest order")
    how.add_argument("--repeat", type=int, default=3)
    how.add_argument("--seconds", type=float, default=3600.0)
    how.set_defaults(run=measure)
    how = commands.add_parser("write")
    how.add_argument("rows", nargs="+")
    how.set_defaults(run=write)
    options = parser.parse_args()
    if options.plot:
        redraw()
    elif options.run:
        options.run(options)
    else:
        parser.error("measure, write or --plot")


if __name__ == "__main__":
    main()
