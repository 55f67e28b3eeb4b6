"""The size of a text as the cutting of long texts counts it."""

from ecphoria.text.cutting import PIECE


def estimated_pieces(text: str) -> int:
    """Estimate how many word pieces an encoder makes of a text."""
    return len(PIECE.findall(text))
