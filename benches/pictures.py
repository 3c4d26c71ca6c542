"""Draws the results that pages in `results` record, as SVG with a light and a dark scheme.

    python3 benches/pictures.py [--check]

`reading.svg` shows the table of all peers in `reading.md`, and `growth.svg` the table in `growth.md`. All figures are taken from
these pages. With `--check`, nothing is written, and the exit status is 1 if a picture differs from its page.
"""

import argparse
import math
import re
import sys
from html import escape
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"

# Each side's colours on light and on dark ground. Its marks have a shape of their own, for readers who cannot tell colours apart.
COLOURS = {
    "herringbone": ("#2a78d6", "#3987e5"),
    "duckdb": ("#eb6834", "#d95926"),
    "polars": ("#1baf7a", "#199e70"),
    "pyarrow": ("#4a3aa7", "#9085e9"),
}
SHAPES = {
    "herringbone": "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0",
    "duckdb": "M-3.5,-3.5h7v7h-7z",
    "polars": "M0,-4.5L4.5,3.5H-4.5z",
    "pyarrow": "M0,-4.5L4.5,0L0,4.5L-4.5,0z",
}

# The ground, text, less important text, and lines of a grid.
SCHEMES = ("#fcfcfb", "#0b0b0b", "#52514e", "#e1e0d9"), ("#1a1a19", "#ffffff", "#c3c2b7", "#383835")


def style(scheme):
    ground, ink, faint, grid = SCHEMES[scheme]
    rules = [
        f".ground{{fill:{ground}}}text{{fill:{faint}}}.ink{{fill:{ink}}}",
        f".grid{{stroke:{grid}}}.axis{{stroke:{faint}}}",
    ]
    for side, colours in COLOURS.items():
        rules.append(f".{side}{{stroke:{colours[scheme]};fill:{colours[scheme]}}}")
    return "".join(rules)


class Picture:
    """An SVG of some size, to which shapes are added from back to front."""

    def __init__(self, width, height, description):
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
            f"<title>{escape(description)}</title>",
            "<style>text{font:12px system-ui,sans-serif}.bold{font-weight:600}.grid,.axis{stroke-width:1}"
            f"path.line{{fill:none;stroke-width:2}}path.dot{{stroke:none;fill-opacity:.4}}{style(0)}"
            f"@media(prefers-color-scheme:dark){{{style(1)}}}</style>",
            f'<rect class="ground" width="{width}" height="{height}" rx="6"/>',
        ]

    def text(self, x, y, text, classes="", anchor="start"):
        self.lines.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}" text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, classes, extra=""):
        self.lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"{extra}/>')

    def path(self, points, classes):
        self.lines.append(f'<path d="M{"L".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{classes}"/>')

    def mark(self, x, y, side, classes=""):
        self.lines.append(f'<path transform="translate({x:.1f},{y:.1f})" d="{SHAPES[side]}" class="{side} {classes}"/>')

    def finish(self):
        return "\n".join([*self.lines, "</svg>", ""])


def table(page, first_heading):
    """The rows of the table whose first column has this heading, as lists of cells."""
    lines = iter(page.splitlines())
    heading = next(line for line in lines if line.startswith(f"| {first_heading} |"))
    next(lines)
    rows = [heading]
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append(line)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def on_log(value, least, most, start, end):
    return start + (end - start) * math.log(value / least) / math.log(most / least)


def reading(page):
    """A strip for each peer, with a dot per file and a line at the geometric mean."""
    heading, *rows = table(page, "case")
    held_out = float(re.search(r"Our time was (0\.\d+) of the crate's", page).group(1))
    tables = re.search(r"read (\w+) tables that we had not tuned for", page).group(1)
    names = {"arrow-rs": "the parquet crate", "polars*": "polars", "best": "the best of the four"}
    strips = [(f"the parquet crate: {tables} unseen tables", [], held_out)]
    for column, peer in enumerate(heading[1:], 1):
        ratios = [float(row[column]) for row in rows if row[column]]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        strips.append((names.get(peer, peer), ratios, mean))
    left, right, top, pitch = 270, 780, 72, 34
    bottom = top + pitch * len(strips)
    picture = Picture(840, bottom + 42, "Reading: Herringbone's time in units of its peers' times")
    picture.text(20, 28, "Time to read a file as Arrow arrays, in units of a peer's time", "ink bold")
    picture.text(20, 48, f"A dot is one of {len(rows)} cases, a bar their geometric mean. Left of 1, Herringbone is faster. One thread.")

    def place(value):
        return on_log(value, 0.02, 1.1, left, right)

    for tick in (0.02, 0.05, 0.1, 0.2, 0.5, 1):
        picture.line(place(tick), top, place(tick), bottom, "axis" if tick == 1 else "grid")
        picture.text(place(tick), bottom + 18, f"{tick:g}", anchor="middle")
    for index, (name, ratios, mean) in enumerate(strips):
        y = top + pitch * (index + 0.5)
        picture.text(left - 14, y + 4, name, "ink", "end")
        for ratio in ratios:
            picture.mark(place(ratio), y, "herringbone", "dot")
        picture.line(place(mean), y - 12, place(mean), y + 12, "herringbone", ' stroke-width="3"')
        picture.text(right + 10, y + 4, f"{mean:.2f}", "ink bold")
    return picture.finish()


def panel(picture, place, name, points, unit):
    """A chart with both axes logarithmic, in which each side's points are connected."""
    x, y, width, height = place
    sizes = [size for size, _ in points]
    values = [value for _, costs in points for value in costs.values()]
    least, most = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    picture.text(x, y - 10, name, "ink bold")

    def across(size):
        return on_log(size, sizes[0], sizes[-1], x + 8, x + width - 8)

    def up(value):
        return on_log(value, least, most, y + height, y)

    for power in range(round(math.log10(least)), round(math.log10(most)) + 1):
        picture.line(x, up(10**power), x + width, up(10**power), "grid")
        picture.text(x - 5, up(10**power) + 4, f"{10**power:g}", anchor="end")
    for size in sizes:
        label = f"{size // 1_000_000} M" if size >= 1_000_000 else f"{size // 1000} k"
        picture.text(across(size), y + height + 16, label, anchor="middle")
    for side in reversed(COLOURS):
        line = [(across(size), up(costs[side])) for size, costs in points if side in costs]
        picture.path(line, f"{side} line")
        for at in line:
            picture.mark(*at, side)
    picture.text(x - 5, y - 10, unit, anchor="end")


def growth(page):
    """Two charts per job: seconds and megabytes over sizes."""
    heading, *rows = table(page, "job")
    jobs = {}
    for name, size, *cells in rows:
        if not size:
            continue
        number, kind = size.split(" ", 1)
        costs = {"s": {}, "MB": {}}
        for column, cell in zip(heading[2:], cells):
            side, unit = column.split(", ")
            if re.fullmatch(r"[\d.]+", cell):
                costs[unit][side] = float(cell)
        jobs.setdefault((name, kind), []).append((int(number.replace(",", "")), costs))
    columns, pitch, row_pitch, top = 4, 215, 190, 92
    bands = math.ceil(len(jobs) / columns)
    picture = Picture(880, top + bands * 2 * row_pitch, "Processor time and memory over the size of what is read")
    picture.text(20, 28, "Processor seconds and peak memory over size", "ink bold")
    for index, side in enumerate(COLOURS):
        picture.mark(26 + 110 * index, 48, side)
        picture.text(38 + 110 * index, 52, side)
    for index, ((name, kind), points) in enumerate(jobs.items()):
        band, column = divmod(index, columns)
        for half, unit in enumerate(("s", "MB")):
            place = (55 + column * pitch, top + (band * 2 + half) * row_pitch, 150, 130)
            title = name if kind in name else f"{name}, {kind}"
            panel(picture, place, title if half == 0 else "", [(size, costs[unit]) for size, costs in points], unit)
    return picture.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    is_check = parser.parse_args().check
    stale = []
    for draw in (reading, growth):
        page, target = (RESULTS / f"{draw.__name__}.{suffix}" for suffix in ("md", "svg"))
        drawn = draw(page.read_text(encoding="utf-8"))
        if is_check and (not target.exists() or target.read_text(encoding="utf-8") != drawn):
            stale.append(target.name)
        if not is_check:
            target.write_text(drawn, encoding="utf-8")
    if stale:
        sys.exit(f"{', '.join(stale)} differ from their pages; run benches/pictures.py")


if __name__ == "__main__":
    main()
