"""Answers of the service that a test waits for or reads a figure from."""

import re
import time
from typing import Any

from tests.acceptance.conftest import Owner


def ended(owner: Owner, place: str) -> dict[str, Any]:
    deadline, pause_s = time.monotonic() + 60, 0.02
    while (job := owner.get(place).json())["state"] in {"queued", "running"}:
        assert time.monotonic() < deadline
        time.sleep(pause_s)
        pause_s = min(1.5 * pause_s, 0.3)  # each look takes time from the job itself
    return dict(job)


def figure(text: str, name: str, **labels: str) -> float:
    """Sum a figure over the labels not named."""
    total = 0.0
    for line in text.splitlines():
        found = re.fullmatch(rf"{name}{{(.*)}} (\S+)", line)
        if found and all(f'{key}="{value}"' in found[1] for key, value in labels.items()):
            total += float(found[2])
    return total
