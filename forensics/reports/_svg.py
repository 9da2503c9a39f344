"""Figures as SVG drawn by hand: small, without scripts, with a title and a text for those who cannot see them.

Colours come from classes (`m-summary`, `curve`), so that a page can give them for light and dark; every mark has
its own shape and its own row, so that nothing hangs on colour.
"""

from collections.abc import Callable, Iterator
from html import escape

from forensics.incident.model import Bars, Pin, Track
from forensics.reports._axes import date_of, round_steps, short, time_ticks
from forensics.reports._marks import LABELS, ORDER, PATTERNS, SHAPES, counted, label_of
from forensics.reports._words import duration, minute, money, span
from forensics.safe import plain

ROW = 19
_CURVE = 190
_COST = 34
_MOST_LINES = 60


class Frame:
    """Where things stand in a figure: its width, the plot's left and right edge."""

    def __init__(self, *, narrow: bool) -> None:
        self.narrow = narrow
        self.width = 360 if narrow else 860
        self.left = 44 if narrow else 158
        self.right = self.width - (10 if narrow else 14)
        self.row = ROW + 16 if narrow else ROW
        self.start = 0
        self.span = 1

    def over(self, start: int, end: int) -> "Frame":
        """Set the stretch of x that the plot covers."""
        self.start, self.span = start, max(end - start, 1)
        return self

    def x(self, value: int) -> float:
        """Place a value on the axis."""
        return self.left + (value - self.start) / self.span * (self.right - self.left)


def told(track: Track, *, titled: bool = True) -> str:
    """Say in words what a timeline shows, beginning with its title."""
    when = stretch(track.start, track.end, timed=track.timed) + (" UTC" if track.timed else "; no times")
    parts = [f"{track.title}, {when}" if titled else when]
    if track.peak:
        cap = f" of a cap of {track.cap:,}" if track.cap else ""
        parts.append(f"context peaks at {track.peak[1]:,} tokens{cap}{refused_words(track)}")
    parts += counted(track.counts)
    if track.spent:
        parts.append(f"{money(track.spent[-1][1])} spent")
    if track.gaps_in_all:
        stretches = "stretch" if track.gaps_in_all == 1 else "stretches"
        parts.append(f"{track.gaps_in_all:,} {stretches} of 15 minutes or more without a row")
    return ". ".join([parts[0], *map(_capital, parts[1:])]) + "."


def refused_words(track: Track) -> str:
    """Name the refused request that was greater than anything on the curve; nothing where none is."""
    greater = track.refused is not None and track.peak is not None and track.refused > track.peak[1]
    return f"; a request of {track.refused:,} was refused" if greater else ""


def stretch(first: int, last: int, *, timed: bool) -> str:
    """Give a stretch of a figure's axis: times, or rows."""
    if timed:
        return span(first, last)
    return f"row {first:,}" if first == last else f"rows {first:,} to {last:,}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def timeline(track: Track, *, narrow: bool = False, style: str = "") -> str:
    """Draw a session: its context against the cap, a row for each kind of event, the money spent, the time axis."""
    frame = Frame(narrow=narrow).over(track.start, track.end)
    marks = [mark for mark in ORDER if track.counts.get(mark)]
    top = 14.0
    parts: list[str] = []
    bottom = top
    if track.points:
        bottom = top + _CURVE
        parts += _curve(track, frame, top, bottom)
        bottom += 6
    lines_to = bottom
    for mark in marks:
        parts += _row(frame, mark, [one for one in track.pins if one.mark == mark], track, bottom)
        bottom += frame.row
    if track.gaps:
        parts += _gap_row(track, frame, bottom)
        bottom += frame.row
    if track.spent:
        parts += _spent(track, frame, bottom + 4)
        bottom += _COST + 8 + (13 if narrow else 0)
    if track.points:
        parts += _hairlines(track, frame, top, lines_to)
    parts += _time_axis(track, frame, bottom + 2)
    return _svg((frame.width, bottom + 36), track.anchor, (track.title, told(track)), parts, style)


def _svg(size: tuple[int, float], anchor: str, words: tuple[str, str], parts: list[str], style: str) -> str:
    (width, height), (title, text) = size, words
    name = f"{anchor}-{width}"
    inner = f"<style>{style}</style><rect class='paper' width='{width}' height='{height:.0f}'/>" if style else ""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height:.0f}' width='{width}'"
        f" height='{height:.0f}' role='img' aria-labelledby='{name}-t {name}-d'>"
        f"<title id='{name}-t'>{_text(title)}</title><desc id='{name}-d'>{_text(text)}</desc>{inner}"
        + "".join(parts)
        + "</svg>"
    )


def _text(words: str) -> str:
    return escape(plain(words))


def _label(x: float, y: float, words: str, css: str = "", anchor: str = "") -> str:
    at = f" text-anchor='{anchor}'" if anchor else ""
    name = f" class='{css}'" if css else ""
    return f"<text x='{x:.1f}' y='{y:.1f}'{name}{at}>{_text(words)}</text>"


def _curve(track: Track, frame: Frame, top: float, bottom: float) -> Iterator[str]:
    caps = [cap for _, cap in track.caps] or ([track.cap] if track.cap else [])
    greatest = max([point[1] for point in track.points] + [cap for cap in caps if cap])
    scale = greatest * 1.06 or 1

    def y(value: float) -> float:
        return bottom - value / scale * (bottom - top)

    for value in round_steps(scale, 5):
        at = y(value)
        yield f"<path class='grid' d='M{frame.left} {at:.1f}H{frame.right}'/>"
        yield _label(frame.left - 6, at + 4, short(value), "tick", "end")
    if not frame.narrow:
        yield _label(4, top + 8, "tokens in", "tick")
        yield _label(4, top + 21, "the context", "tick")
    place = " ".join(f"{frame.x(x):.1f} {y(value):.1f}" for x, value in track.points)
    first, last = frame.x(track.points[0][0]), frame.x(track.points[-1][0])
    yield f"<path class='area' d='M{first:.1f} {bottom}L{place}L{last:.1f} {bottom}Z'/>"
    yield f"<path class='curve' d='M{place}'/>"
    if len(track.points) == 1:
        yield f"<circle class='dot' cx='{first:.1f}' cy='{y(track.points[0][1]):.1f}' r='3'/>"
    yield from _limits(track, frame, y)
    if track.peak:
        x, value = track.peak
        at, high = frame.x(x), y(value)
        end = at > (frame.left + frame.right) / 2
        yield f"<circle class='dot' cx='{at:.1f}' cy='{high:.1f}' r='3'/>"
        words = f"peak {value:,}"
        yield _label(at + (-7 if end else 7), max(high + 4, top + 8), words, "strong halo", "end" if end else "start")


def _limits(track: Track, frame: Frame, y: Callable[[float], float]) -> Iterator[str]:
    caps = track.caps or ([(track.start, track.cap)] if track.cap else [])
    for at, (x, cap) in enumerate(caps):
        begin = frame.x(x) if at else frame.left
        end = frame.x(caps[at + 1][0]) if at + 1 < len(caps) else frame.right
        yield f"<path class='cap' d='M{begin:.1f} {y(cap):.1f}H{end:.1f}'><title>cap {cap:,} tokens</title></path>"
    limit = caps[-1][1] if caps else None
    if limit is not None:
        yield _label(frame.right - 2, y(limit) - 4, f"cap {limit:,}", "captext halo", "end")
    if track.begins is None:
        return
    line = y(track.begins)
    yield (
        f"<path class='begins' d='M{frame.left} {line:.1f}H{frame.right}'>"
        f"<title>the least context at which a threshold compaction began: {track.begins:,} tokens</title></path>"
    )
    words = f"compactions from {short(track.begins)}" if frame.narrow else f"compactions began from {track.begins:,}"
    below = limit is not None and track.begins < limit
    yield _label(frame.left + 4, line + (12 if below else -5), words, "tick halo")


def _gap_row(track: Track, frame: Frame, top: float) -> Iterator[str]:
    """Draw the stretches in which nothing was recorded as bars in a row of their own."""
    words = f"silences {track.gaps_in_all:,}"
    y = top + frame.row - ROW / 2
    yield _label(18 if frame.narrow else 21, top + 13 if frame.narrow else y + 4, words, "name")
    yield f"<path class='grid' d='M{frame.left} {y:.1f}H{frame.right}'/>"
    for gap in track.gaps:
        left, right = frame.x(gap.start), frame.x(gap.end)
        told_of = f"nothing recorded for {duration((gap.end - gap.start) / 1000)}, then {gap.then}"
        yield (
            f"<rect class='gap' x='{left:.1f}' y='{y - 3:.1f}' width='{max(right - left, 1):.1f}' height='6'>"
            f"<title>{_text(told_of)}</title></rect>"
        )


def _hairlines(track: Track, frame: Frame, top: float, bottom: float) -> Iterator[str]:
    found = [one for one in track.pins if one.mark in {"continue", "crash"}]
    if len(found) <= _MOST_LINES:
        for one in found:
            yield f"<path class='hair m-{one.mark}' d='M{frame.x(one.x):.1f} {top}V{bottom}'/>"


def _row(frame: Frame, mark: str, pins: list[Pin], track: Track, top: float) -> Iterator[str]:
    words = f"{label_of(mark, track.counts)} {track.counts[mark]:,}"
    y = top + frame.row - ROW / 2
    if frame.narrow:
        yield _mark(mark, 9, top + 9)
        yield _label(18, top + 13, words, "name")
    else:
        yield _mark(mark, 10, y)
        yield _label(21, y + 4, words, "name")
    yield f"<path class='grid' d='M{frame.left} {y:.1f}H{frame.right}'/>"
    for pin in pins:
        yield _mark(mark, frame.x((pin.x + pin.last) // 2), y, _pin_words(pin, track), pin.count)


def _pin_words(pin: Pin, track: Track) -> str:
    at = minute(pin.x) if track.timed else f"row {pin.x:,}"
    if pin.count == 1:
        return f"{at}: {pin.words}"
    end = minute(pin.last)[11:] if track.timed else f"{pin.last:,}"
    return f"{at} to {end}: {pin.count:,} x {pin.words}"


def _mark(mark: str, x: float, y: float, words: str = "", many: int = 1) -> str:
    filling, path = SHAPES[mark]
    scale = min(1.35, 0.9 + 0.12 * (many.bit_length() - 1))
    size = f" scale({scale:.2f})" if many > 1 else ""
    title = f"<title>{_text(words)}</title>" if words else ""
    return (
        f"<path class='mark {filling} m-{mark}' transform='translate({x:.1f} {y:.1f}){size}' d='{path}'>{title}</path>"
    )


def _spent(track: Track, frame: Frame, top: float) -> Iterator[str]:
    total = track.spent[-1][1]
    words = f"spent {money(total)}"
    if frame.narrow:
        yield _label(18, top + 9, words, "name")
        top += 13
    else:
        yield _label(21, top + _COST - 10, words, "name")
    bottom = top + _COST
    scale = total or 1
    path = [f"M{frame.left} {bottom:.1f}"]
    for x, value in track.spent:
        path.append(f"H{frame.x(x):.1f}V{bottom - value / scale * (_COST - 4):.1f}")
    path.append(f"H{frame.right}V{bottom:.1f}Z")
    yield f"<path class='money' d='{''.join(path)}'><title>{_text(words)}</title></path>"


def _time_axis(track: Track, frame: Frame, y: float) -> Iterator[str]:
    yield f"<path class='axis' d='M{frame.left} {y:.1f}H{frame.right}'/>"
    ticks = (
        time_ticks(track.start, track.end, 4 if frame.narrow else 9)
        if track.timed
        else [(track.start + one, f"{track.start + one:,}") for one in round_steps(track.end - track.start, 6)]
    )
    for at, words in ticks:
        x = frame.x(at)
        yield f"<path class='axis' d='M{x:.1f} {y:.1f}v4'/>"
        end = "middle" if frame.left + 14 < x < frame.right - 14 else "start" if x <= frame.left + 14 else "end"
        yield _label(x, y + 16, words, "tick", end)
    words = f"{date_of(track.start)}, UTC" if track.timed else "row of the session (no times on record)"
    yield _label(frame.right, y + 30, words, "tick", "end")


def bars(chart: Bars, *, narrow: bool = False, style: str = "") -> str:
    """Draw counts per stretch of time as stacked bars, each outcome with its own pattern."""
    frame = Frame(narrow=narrow).over(chart.start, chart.start + chart.step * chart.steps)
    if not narrow:
        frame.left = 44
    totals: dict[str, int] = {}
    for _, counts in chart.rows:
        for mark, number in counts.items():
            totals[mark] = totals.get(mark, 0) + number
    parts = [_patterns(chart.anchor, frame.width, totals)]
    legend, top = _legend(frame, totals, chart)
    parts += legend
    bottom = top + 120
    greatest = max((sum(counts.values()) for _, counts in chart.rows), default=1)
    for value in round_steps(greatest, 4):
        at = bottom - value / greatest * 116
        parts.append(f"<path class='grid' d='M{frame.left} {at:.1f}H{frame.right}'/>")
        parts.append(_label(frame.left - 6, at + 4, short(value), "tick", "end"))
    wide = max(frame.x(chart.start + chart.step) - frame.left - 1.5, 1.5)
    for at, counts in chart.rows:
        y = bottom
        for mark, number in counts.items():
            high = number / greatest * 116
            y -= high
            box = f"x='{frame.x(at) + 0.5:.1f}' y='{y:.1f}' width='{wide:.1f}' height='{high:.1f}'"
            words = f"{minute(at)}: {number:,} {LABELS[mark]}"
            parts.append(f"<rect class='bar m-{mark}' {box}><title>{_text(words)}</title></rect>")
            if PATTERNS.get(mark):
                parts.append(f"<rect class='over' {box} fill='url(#{chart.anchor}-{frame.width}-{mark})'/>")
    parts += _bar_axis(chart, frame, bottom)
    return _svg((frame.width, bottom + 36), chart.anchor, (chart.title, bars_told(chart, totals)), parts, style)


def bars_told(chart: Bars, totals: dict[str, int] | None = None) -> str:
    """Say in words what the bars show."""
    if totals is None:
        totals = {}
        for _, counts in chart.rows:
            for mark, number in counts.items():
                totals[mark] = totals.get(mark, 0) + number
    most = max(chart.rows, key=lambda row: sum(row[1].values()), default=None)
    parts = [chart.title]
    if "attempt" not in totals:
        parts += [f"{LABELS[mark]}: {number:,}" for mark, number in totals.items()]
    if most:
        parts.append(f"the most, {sum(most[1].values()):,}, from {minute(most[0])} UTC on")
    return ". ".join(parts) + "."


def _patterns(anchor: str, width: int, totals: dict[str, int]) -> str:
    found = "".join(
        f"<pattern id='{anchor}-{width}-{mark}' width='6' height='6' patternUnits='userSpaceOnUse'>"
        f"<path class='hatch' d='{PATTERNS[mark]}'/></pattern>"
        for mark in totals
        if PATTERNS.get(mark)
    )
    return f"<defs>{found}</defs>" if found else ""


def _legend(frame: Frame, totals: dict[str, int], chart: Bars) -> tuple[list[str], float]:
    parts: list[str] = []
    x, y = float(frame.left), 6.0
    if "attempt" in totals:
        return parts, 14.0
    for mark, number in totals.items():
        words = f"{LABELS[mark]} {number:,}"
        need = 22 + 6.6 * len(words)
        if x + need > frame.right and x > frame.left:
            x, y = float(frame.left), y + 18
        parts.append(f"<rect class='bar m-{mark}' x='{x:.1f}' y='{y}' width='12' height='12'/>")
        if PATTERNS.get(mark):
            parts.append(
                f"<rect class='over' x='{x:.1f}' y='{y}' width='12' height='12'"
                f" fill='url(#{chart.anchor}-{frame.width}-{mark})'/>"
            )
        parts.append(_label(x + 17, y + 10, words, "name"))
        x += need + 12
    return parts, y + 26


def _bar_axis(chart: Bars, frame: Frame, y: float) -> Iterator[str]:
    yield f"<path class='axis' d='M{frame.left} {y:.1f}H{frame.right}'/>"
    end = chart.start + chart.step * chart.steps
    for at, words in time_ticks(chart.start, end, 4 if frame.narrow else 9):
        x = frame.x(at)
        side = "middle" if frame.left + 14 < x < frame.right - 14 else "start" if x <= frame.left + 14 else "end"
        yield f"<path class='axis' d='M{x:.1f} {y:.1f}v4'/>"
        yield _label(x, y + 16, words, "tick", side)
    yield _label(frame.right, y + 30, f"{date_of(chart.start)}, UTC", "tick", "end")
