"""Words for people."""

from __future__ import annotations


def counted(n: int, one: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{n} {one}" if n == 1 else f"{n} {one}s"
