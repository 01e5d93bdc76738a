# SPDX-License-Identifier: GPL-2.0-only
"""Pieces of pictures, and the frame around a view's."""
from .pretty import Text

AROUND = 9              # lines around what a view draws
_EIGHTHS = " ▏▎▍▌▋▊▉"

# What is little, and what is much: as a map of heat, that also without colours has one order.
HEAT = ("grey50", "blue", "cyan", "green", "yellow", "red")


def bar(value, most, width, style):
    """A bar as long as @value of @most."""
    if not value or not most:
        return Text(" " * width)
    eighths = max(1, round(min(1.0, value / most) * width * 8))
    return Text(("█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")).ljust(width), style)


def heat(value, most):
    """The colour of @value where @most is the hottest."""
    if not value or not most:
        return HEAT[0]
    return HEAT[min(len(HEAT) - 1, 1 + int(value / most * (len(HEAT) - 1.001)))]


def head(view, frame, replayed, paused, mode_of):
    """Where this is from, and of when."""
    info = view.info
    text = Text(no_wrap=True, overflow="ellipsis")
    for mark, there in (("RECORD", replayed), ("PAUSED", paused)):
        if there:
            text.append(f"{mark}  ", "bold yellow")
    text.append(f"{info['machine']}\n", "bold")
    text.append(f"Linux {info['kernel']}, driver {info['driver']}\n", "dim")
    text.append(f"{view.title}, {frame.seconds:.2f} s from {frame.start:.1f} s on")
    if len(view.modes) > 1:
        text.append("   ")
        for mode in view.modes:
            text.append(f" {mode} ", "reverse" if mode == mode_of else "dim")
    return text


def turns(rows):
    """What to say of counters that took turns; None if none did."""
    shares = [row.share for row in rows.all if row.value is not None and not row.whole]
    if not shares:
        return None
    least, most = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return Text(f"~ counters took turns: these numbers are of {least if least == most else f'{least} to {most}'} "
                "of the time, and are in no sum", "yellow")
