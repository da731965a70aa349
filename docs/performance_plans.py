#!/usr/bin/env python3
"""Measures planned products on several GPUs and writes docs/performance/plans.md.

    docs/performance_plans.py measure --devices cuda:0,cuda:1 --product-plan PATH --tester PATH --out plans.jsonl
    docs/performance_plans.py write plans.jsonl

`measure` needs only two programs, built anywhere: the example `product_plan` and the tester. The example checks every
product, and times it by the scheduling policy and by its plan, by turns in one process; the tester times other types
and routines by plan and by policy, and cuBLASXt beside them. It writes a line for each case as soon as it is done,
takes no case that failed its check, and leaves out those that the file has: a second call goes on. `write` needs no GPU. The part of the document below the marker is written by hand,
and stays.
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import time

DOCUMENT = pathlib.Path(__file__).resolve().parent / "performance" / "plans.md"
BY_HAND = "<!-- What follows is written by hand. -->"
KINDS = ["the policy", "the grid alone", "the grid, and routes", "the grid, routes, and order of arrival", "the plan"]
# Title, arguments of the example, and the products and places.
PRODUCTS = [
    ("square", ["--parts"], ["4096 hhh", "8192 hhh", "16384 hhh", "32768 hhh"]),
    ("places", [], [f"{n} {places}" for places in ("000", "10h", "hh0", "h00", "ddh", "hhd") for n in (8192, 16384)]),
    ("thin", [], [f"{shape} hhh" for shape in (
        "16384,16384,4096", "16384,16384,2048", "16384,16384,1024", "16384,2048,16384", "2048,16384,16384",
        "4096,4096,32768")]),
    ("element", ["--element", "{}"], [f"{n} hhh {element}" for n in (16384, 32768) for element in ("f32", "f16", "bf16")]),
    ("memory", ["--memory", "{}"], [f"16384 hhh {memory}" for memory in ("3G", "1G", "512M")]),
]
# Routine, type, orders, and the peer.
ROUTINES = [
    ("gemm", "d", "8192,16384", "cublasxt,4096"), ("gemm", "s", "8192,16384", ""), ("gemm", "z", "8192,16384", ""),
] + [(routine, "d", "8192,16384", "") for routine in ("syrk", "syr2k", "symm", "trmm", "trsm")]


def run(words, seconds):
    """The output of a program, or nothing if it failed."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds,
                              check=False)
        return done.stdout if done.returncode == 0 else ""
    except subprocess.TimeoutExpired:
        return ""


def numbers(pattern, text):
    return [[float(number) for number in found] if isinstance(found, tuple) else float(found)
            for found in re.findall(pattern, text)]


def product(options, arguments, case):
    dim, places, *memory = case.split(" ")
    words = [options.product_plan, "--devices", options.devices, "--dim", dim, "--places", places]
    words += [word.format(*memory) for word in arguments] + ["--repeat", str(options.repeat)]
    text = run(words, 120)
    if "checked" not in text:
        return None
    return {
        "case": case,
        "rates": {name: float(rate) for name, rate in re.findall(r"^by (.*) ([0-9.]+) TFLOP/s", text, re.M)},
        "times": numbers(r"([0-9.]+) ms, predicted ([0-9.]+);", text),
        "as_planned": text.count("bytes as planned"),
        "planned_ms": numbers(r"planned in ([0-9.]+) ms", text),
        "tiles": re.findall(r"tiles of ([0-9x ]+),", text),
    }


def routine(options, name, letter, dims, peer):
    rows = []
    for distribution in ("planned", "none"):
        words = [options.tester, name, "--type", letter, "--dim", dims, "--devices", options.devices, "--pinned", "y"]
        words += ["--location", "host", "--distribution", distribution, "--repeat", "3", "--check", "n"]
        words += ["--peer", peer] if peer and distribution == "planned" else []
        for line in run(words, 120).splitlines():
            found = re.match(rf"{letter}{name}\s", line)
            values = line.split()
            rates = [float(word) * 1e-3 for word in re.findall(r"e[-+]\d+\s+([0-9.]+)", line)]
            if found and rates:
                order = next(word for word in values[1:] if word.isdigit())
                rows.append({"routine": letter + name, "order": int(order), "by": distribution, "rates": rates})
    return rows


def measure(options):
    begun = time.monotonic()
    where = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], stdout=subprocess.PIPE,
                           text=True, check=False).stdout.split("\n")
    count = len(options.devices.split(","))
    head = {"machine": f"{count} {where[0].strip()}", "date": datetime.date.today().isoformat()}
    path = pathlib.Path(options.out)
    old = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    done = {(row["kind"], row.get("case") or row["routine"]) for row in old}
    with open(options.out, "a", encoding="utf-8") as out:
        def write(kind, row):
            out.write(json.dumps({"kind": kind, **head, **row}) + "\n")
            out.flush()

        def has_time():
            return options.seconds - (time.monotonic() - begun) > 20

        for kind, arguments, cases in PRODUCTS:
            for case in (case for case in cases if (kind, case) not in done):
                row = product(options, arguments, case) if has_time() else None
                if row:
                    write(kind, row)
                else:
                    print(f"left out: {case}")
        for case in (case for case in ROUTINES if ("routine", case[1] + case[0]) not in done):
            for row in routine(options, *case) if has_time() else []:
                write("routine", row)


def ratio(times):
    return sorted(took / predicted for took, predicted in times)[len(times) // 2] if times else None


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def of_products(rows):
    """Measured beside predicted, and beside the policy."""
    lines = []
    for row in rows:
        dim, places, *memory = row["case"].split(" ")
        policy, plan = row["rates"]["the policy"], row["rates"]["the plan"]
        predicted = ratio(row["times"])
        lines.append([
            dim.replace(",", " x "), places, *memory, f"{policy:.1f}", f"{plan:.1f}", f"{plan / policy:.2f}",
            f"{predicted:.2f}" if predicted else "", f"{row['as_planned']} of {len(row['times'])}" if predicted else "",
        ])
    return lines


def write(options):
    rows = [json.loads(line) for name in options.rows for line in open(name, encoding="utf-8")]
    of = lambda kind: [row for row in rows if row["kind"] == kind]
    head = ["m, n, k", "places", "by policy", "planned", "ratio", "measured / predicted time", "bytes as planned"]
    parts = [f"# Planned products\n\n{rows[0]['machine']}, {rows[0]['date']}, double precision if nothing else is said, pinned host memory, "
             "TFLOP/s.\nPlaces of A, B and C: `h` the host, `d` dealt to all GPUs, else the GPU's number. Medians, by "
             "turns in one process;\nevery product is checked. Written by `docs/performance_plans.py`.\n"]
    parts.append("## Shapes and places\n\n" + table(head, of_products(of("square") + of("thin") + of("places"))))
    if of("memory"):
        limits = table(head[:2] + ["memory"] + head[2:], of_products(of("memory")))
        parts.append("## Limited memory\n\nThe memory that each GPU may use; the matrices have 6.4 GB.\n\n" + limits)
    if of("element"):
        others = table(head[:2] + ["element"] + head[2:], of_products(of("element")))
        parts.append("## Other elements\n\nProducts of `f16` and `bf16` are summed in `f32`, and rounded once.\n\n" + others)
    parts.append("## What each part gains\n\n" + table(["order", *(kind for kind in KINDS)], [
        [row["case"].split(" ")[0], *(f"{row['rates'][kind]:.1f}" for kind in KINDS)] for row in of("square")]))
    lines, found = [], {(row["routine"], row["order"], row["by"]): row["rates"] for row in of("routine")}
    for (name, order, by), rates in found.items():
        policy = found.get((name, order, "none"), [0.0])[0]
        if by == "planned" and policy > 0.0:
            peer = f"{rates[1]:.1f}" if len(rates) > 1 else ""
            lines.append([f"{name} {order}", f"{policy:.1f}", f"{rates[0]:.1f}", f"{rates[0] / policy:.2f}", peer])
    parts.append("## Other types and routines\n\nThe tester, matrices in host memory.\n\n" + table(
        ["routine, order", "by policy", "planned", "ratio", "cuBLASXt"], lines))
    by_hand = DOCUMENT.read_text(encoding="utf-8").split(BY_HAND)[1] if DOCUMENT.exists() else "\n"
    DOCUMENT.write_text("\n".join(parts) + "\n" + BY_HAND + by_hand, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    one.add_argument("--devices", required=True)
    one.add_argument("--product-plan", required=True)
    one.add_argument("--tester", required=True)
    one.add_argument("--repeat", type=int, default=5)
    one.add_argument("--seconds", type=float, default=400.0)
    one.add_argument("--out", required=True)
    one.set_defaults(call=measure)
    two = commands.add_parser("write")
    two.add_argument("rows", nargs="+")
    two.set_defaults(call=write)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
