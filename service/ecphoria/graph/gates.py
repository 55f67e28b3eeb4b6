"""A gate as the text that a tenant's node carries."""

import json
from dataclasses import asdict
from datetime import datetime

from ecphoria.model.gate import Gate, GateFit

__all__ = ["gate_of", "gate_text"]


def gate_text(gate: Gate) -> str:
    """Write a gate down."""
    return json.dumps(asdict(gate), default=datetime.isoformat, sort_keys=True)


def gate_of(text: str) -> Gate:
    """Read what `gate_text` wrote."""
    stored = json.loads(text)
    fit = stored.pop("fit")
    if fit is not None:
        fit = GateFit(**{**fit, "fitted_at": datetime.fromisoformat(fit["fitted_at"])})
    return Gate(**stored, fit=fit)
