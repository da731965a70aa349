"""Reads the tables of this folder, and writes what is made from them: plots, and the summary of docs/performance.md.

Called by docs/performance.py and docs/performance_gpu.py. Nothing is measured here, and no figure is rounded twice: a
summary is taken from the ratios as the tables print them.
"""

import dataclasses
import html
import math
import pathlib
import re
import statistics

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parent / "performance.md"


@dataclasses.dataclass
class Row:
    """A row of a table: rates in the table's unit; `peer_rate` and `ratio` are None where the row has no peer."""

    section: str
    routine: str
    size: str
    rate: float
    peer: str
    peer_rate: float | None
    ratio: float | None
    short: bool

    @property
    def precision(self):
        return self.routine[0]

    @property
    def operation(self):
        return self.routine[1:]


def tables(text):
    """All rows of all tables of routines in a document."""
    section, rows = "", []
    for line in text.splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ")
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 7 or not re.fullmatch(r"[0-9.]+", cells[2]):
            continue
        routine, size, rate, peer, peer_rate, ratio = cells[:6]
        ratio = ratio.replace("**short**", "").strip()
        short = "**short**" in line
        rows.append(Row(section, routine, size, float(rate), peer, number(peer_rate), number(ratio), short))
    return rows


def number(cell):
    return float(cell) if cell else None


def median_and_least(rows):
    """Two cells: the median and the least ratio of rows that have a peer."""
    ratios = [row.ratio for row in rows if row.ratio is not None]
    return [f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f}"] if ratios else ["", ""]


def markdown(head, rows):
    lines = ["| " + " | ".join(line) + " |" for line in [head, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def replace_summary(name, text):
    """Replaces the part of docs/performance.md between the two markers of this name."""
    begin, end = f"<!-- {name}: written by a script from the tables. -->", f"<!-- {name} ends. -->"
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(begin, 1)
    after = rest.split(end, 1)[1]
    PAGE.write_text(before + begin + "\n" + text + "\n" + end + after, encoding="utf-8")


class Drawing:
    """An SVG of a given size, on white, so that it can be read on a dark page, too."""

    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'role="img" font-family="Helvetica, Arial, sans-serif" font-size="14" fill="#222">',
            f"<title>{html.escape(title)}</title>",
            f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff" stroke="#d0d0d0"/>',
        ]

    def text(self, x, y, what, anchor="start", size=None, weight=None, color=None):
        more = "".join(
            f' {name}="{value}"'
            for name, value in (("font-size", size), ("font-weight", weight), ("fill", color))
            if value
        )
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(what)}</text>')

    def line(self, x1, y1, x2, y2, color="#dddddd", width=1.0):
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.parts.append(f'<line {ends} stroke="{color}" stroke-width="{width}"/>')

    def band(self, x, y, width, height):
        self.parts.append(f'<rect x="{x}" y="{y:.1f}" width="{width}" height="{height:.1f}" fill="#f5f5f2"/>')

    def dot(self, x, y, radius, color, hollow=False, tip=None):
        fill = f'fill="#ffffff" stroke="{color}" stroke-width="2"' if hollow else f'fill="{color}" fill-opacity="0.85"'
        inside = f"<title>{html.escape(tip)}</title>" if tip else ""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {fill}>{inside}</circle>')

    def arrow(self, x, y, color, tip):
        """Stands for a dot that lies beyond the right end of the axis."""
        self.parts.append(
            f'<path d="M{x - 9:.1f} {y - 5:.1f} L{x:.1f} {y:.1f} L{x - 9:.1f} {y + 5:.1f} Z" fill="{color}">'
            f"<title>{html.escape(tip)}</title></path>"
        )

    def write(self, path):
        path.write_text("\n".join([*self.parts, "</svg>"]) + "\n", encoding="utf-8")


def log_axis(first, last, left, right):
    """The place of a value on a logarithmic axis from `first` at `left` to `last` at `right`."""
    return lambda value: left + (right - left) * math.log(value / first) / math.log(last / first)


def linear_axis(last, left, right):
    return lambda value: left + (right - left) * value / last
