"""Numbers and dates in words."""

from __future__ import annotations

from datetime import date, time, timedelta

from bot.model import Counts, PageCounts, Period, Weekday

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def number(count: int) -> str:
    """1,234"""
    return f"{count:,}"


def signed(count: int) -> str:
    """+12, −3, ±0"""
    return f"+{count:,}" if count > 0 else f"−{-count:,}" if count else "±0"


def percent(share: float | None) -> str:
    """43 %; a few among many are not rounded away."""
    if share is None:
        return "–"
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 < share < 1 else f"{share * 100:.0f} %"


def change(now: int, was: int) -> str:
    """By how much it grew; "new" from nothing, since no percentage says that."""
    if was == 0:
        return "new" if now else "±0 %"
    return f"{signed(round((now - was) / was * 100))} %"


def points(now: Counts, was: Counts | None) -> str:
    """By how many percentage points AI's share changed; empty when there is nothing to compare."""
    if was is None or now.ai_share is None or was.ai_share is None:
        return ""
    moved = round(now.ai_share * 100) - round(was.ai_share * 100)
    return f"{signed(moved)} {'point' if abs(moved) == 1 else 'points'}"


def page_change(page: PageCounts, *, whole: bool = True) -> str:
    """A page's change; without a row before it is "new", or not known if not every row before was read."""
    if page.was is None:
        return "new" if whole else "–"
    return change(page.now.total, page.was.total)


def gained(page: PageCounts) -> int:
    """How many visitors more than before a page has; below zero when it lost some."""
    return page.now.total - (page.was.total if page.was else 0)


def page_gain(page: PageCounts, *, whole: bool = True) -> str:
    """+120 (+12 %): by how many visitors a page changed, and by how much that is."""
    told = page_change(page, whole=whole)
    return told if told == "–" else f"{signed(gained(page))} ({told})"


def day(of: date, *, year: bool = True) -> str:
    """20 Nov 2026"""
    return f"{of.day} {_MONTHS[of.month - 1]}" + (f" {of.year}" if year else "")


def dates(period: Period) -> str:
    """14–20 Nov 2026, 30 Sep – 6 Oct 2026, or one day: both ends belong to it."""
    first, last = period.first, period.last
    if first == last:
        return day(last)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{day(last)}"
    return f"{day(first, year=first.year != last.year)} – {day(last)}"


def point_label(period: Period) -> str:
    """What stands under a point of a chart; at most 20 characters, and different for each."""
    if period.days == 1:
        return f"{_DAYS[period.first.weekday()]} {day(period.first, year=False)}"
    if period.first.month == period.last.month:
        return f"{period.first.day}–{day(period.last, year=False)}"
    return f"{day(period.first, year=False)}–{day(period.last, year=False)}"


def weekday(of: Weekday) -> str:
    """Monday"""
    return of.name.capitalize()


def clock(at: time) -> str:
    """09:00"""
    return at.isoformat("minutes")


def duration(length: timedelta) -> str:
    """4 min, 1 h 20 min, 2 h"""
    minutes = round(length.total_seconds() / 60)
    if minutes < 1:
        return "under a minute"
    hours, rest = divmod(minutes, 60)
    return " ".join([*([f"{hours:,} h"] if hours else []), *([f"{rest} min"] if rest else [])])


def counted(count: int, one: str, many: str) -> str:
    """1 page, 2 pages"""
    return f"{number(count)} {one if count == 1 else many}"
