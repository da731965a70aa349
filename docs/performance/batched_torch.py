#!/usr/bin/env python3
"""Measures torch.linalg.cholesky, lu and qr for batches on a GPU, with MAGMA and with the library PyTorch prefers.

    docs/performance/batched_torch.py [--out torch.jsonl] [--sizes 8,16,32,64,128,256,512] [--count N] [--types d,s]

Prints the columns of the tester. The rows of `--out` are for `docs/performance_batched.py write`. Matrices are on the
GPU. torch.linalg.qr computes geqrf and orgqr; its rate counts geqrf alone, as for the tester's geqrf. MAGMA is used
where the build of PyTorch has it, and for the routines that PyTorch can give to it.
"""

import argparse
import json
import statistics
import sys
import time

TYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
LIBRARIES = ("magma", "default")


def flops(routine, n, letter):
    """The operations of one problem, from LAPACK Working Note 41, as the tester counts them."""
    n = float(n)
    multiplications, additions = {
        "potrf": (n**3 / 6 + n**2 / 2 + n / 3, n**3 / 6 - n / 6),
        "getrf": (n**3 / 3 + 2 * n / 3, n**3 / 3 - n**2 / 2 + n / 6),
        "geqrf": (2 * n**3 / 3 + 1.5 * n**2 + 23 * n / 6, 2 * n**3 / 3 + 0.5 * n**2 + 5 * n / 6),
    }[routine]
    return 6 * multiplications + 2 * additions if letter in "cz" else multiplications + additions


def matrices(torch, routine, count, n, kind):
    a = torch.rand(count, n, n, dtype=kind, device="cuda") - 0.5
    if routine == "potrf":
        a = (a + a.mH) / 2
        a.diagonal(dim1=-2, dim2=-1).add_(2 * n**0.5)
    return a


def error(torch, routine, a, result):
    """The largest error of A minus its factors' product, over n epsilon and the largest element of A."""
    if routine == "potrf":
        product = result @ result.mH
    elif routine == "getrf":
        product = result[0] @ result[1] @ result[2]
    else:
        product = result[0] @ result[1]
    scale = a.shape[-1] * torch.finfo(a.dtype).eps * a.abs().max()
    return float(((a - product).abs().max() / scale).item())


def measure(torch, routine, a, repeat):
    call = {"potrf": torch.linalg.cholesky, "getrf": torch.linalg.lu, "geqrf": torch.linalg.qr}[routine]
    wrong = error(torch, routine, a, call(a))
    seconds = []
    for _ in range(repeat):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        call(a)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds), min(seconds), wrong


def rows(torch, options):
    for letter in options.types.split(","):
        for size in map(int, options.sizes.split(",")):
            count = options.count or (10_000 if size <= 64 else 1000)
            for routine in ("potrf", "getrf", "geqrf"):
                a = matrices(torch, routine, count, size, getattr(torch, TYPES[letter]))
                for library in LIBRARIES:
                    torch.backends.cuda.preferred_linalg_library(library)
                    row = {"measurement": "torch", "machine": torch.cuda.get_device_name(), "location": "device"}
                    row |= {"routine": routine, "type": letter, "size": size, "batch": count, "workers": None}
                    row |= {"peer": f"torch {torch.__version__} {library}"}
                    seconds, least, wrong = measure(torch, routine, a, options.repeat)
                    # A comparison with NaN is false, so NaN is wrong.
                    if not wrong <= 30:
                        sys.exit(f"wrong: residual {wrong} of {row}")
                    rate = count * flops(routine, size, letter) / seconds / 1e9
                    yield row | {"peer_seconds": seconds, "peer_seconds_min": least, "peer_gflops": rate,
                                 "peer_error": wrong, "status": "ok"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--sizes", default="8,16,32,64,128,256,512")
    parser.add_argument("--count", type=int, help="problems of each batch; default: 10 000 up to order 64, else 1000")
    parser.add_argument("--types", default="d")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is not installed: python3 -m pip install torch")
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no CUDA device")
    if not torch.cuda.has_magma:
        print("this PyTorch was built without MAGMA: its rows are those of other libraries", file=sys.stderr)
    print(f"{'routine':<11}{'n':>6} {'problems':>9} {'error':>9} {'seconds':>9} {'GFLOP/s':>9}  library")
    for row in rows(torch, options):
        name = row["type"] + row["routine"]
        print(f"{name:<11}{row['size']:>6} {row['batch']:>9} {row['peer_error']:>9.2e} {row['peer_seconds']:>9.2e} "
              f"{row['peer_gflops']:>9.2f}  {row['peer']}", flush=True)
        if options.out:
            with open(options.out, "a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
