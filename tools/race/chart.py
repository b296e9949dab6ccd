"""Line charts as SVG, in the look of the other pages: linear axes, each name beside the end of its line."""

import math
from xml.sax.saxutils import escape

# Of Okabe and Ito: told apart by most colour-blind readers.
PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"]
WIDTH, HEIGHT, LEFT, TOP = 540.0, 345.0, 68.0, 41.5
# Names beside the ends of lines are at least this far apart.
ROW = 17.0


def ticks(low, high, n_about=6):
    """Round numbers from low to high, about so many: 1, 2 or 5 times a power of ten apart."""
    raw = (high - low) / n_about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * times for times in (1.0, 2.0, 5.0, 10.0) if power * times >= raw * (1.0 - 1e-9))
    return [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def apart(places):
    """The places moved down where they are closer than a row, in their order."""
    moved, last = {}, -math.inf
    for index in sorted(range(len(places)), key=lambda i: places[i]):
        last = max(places[index], last + ROW)
        moved[index] = last
    return [moved[index] for index in range(len(places))]


def line_chart(title, x_name, y_name, series):
    """`series` is a list of (name, points), points (x, y) from left to right; a series without points is left out."""
    series = [(name, points) for name, points in series if points]
    xs = [x for _, points in series for x, _ in points]
    ys = [y for _, points in series for _, y in points]
    x_low, x_high, y_low, y_high = min(xs), max(xs), min(ys), max(ys)
    x_high, y_high = x_high + (x_high == x_low), y_high + (y_high == y_low) * max(abs(y_high), 1.0)

    def right(x):
        return LEFT + (x - x_low) / (x_high - x_low) * WIDTH

    def down(y):
        return TOP + (y_high - y) / (y_high - y_low) * HEIGHT

    width, height = LEFT + WIDTH + 24.0 + 8.0 * max(len(name) for name, _ in series), TOP + HEIGHT + 53.0
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" role="img" font-family="Helvetica, Arial, DejaVu Sans, sans-serif" font-size="13" fill="#222222">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="27" font-size="15" font-weight="bold">{escape(title)}</text>',
    ]
    for x in ticks(x_low, x_high):
        out.append(f'<path d="M{right(x):.1f} {TOP}V{TOP + HEIGHT}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{right(x):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{x:g}</text>')
    for y in ticks(y_low, y_high):
        out.append(f'<path d="M{LEFT} {down(y):.1f}H{LEFT + WIDTH}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{LEFT - 6}" y="{down(y) + 4.5:.1f}" text-anchor="end">{round(y, 10):g}</text>')
    out.append(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">{escape(x_name)}</text>')
    middle = TOP + HEIGHT / 2
    out.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{escape(y_name)}</text>')
    labels = apart([down(points[-1][1]) for _, points in series])
    for index, ((name, points), label) in enumerate(zip(series, labels)):
        colour = PALETTE[index % len(PALETTE)]
        line = "L".join(f"{right(x):.1f} {down(y):.1f}" for x, y in points)
        out.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{LEFT + WIDTH + 8}" y="{label + 4.5:.1f}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>", ""])
