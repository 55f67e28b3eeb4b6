"""Tell which languages the local models read, and warn of texts in others."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from ecphoria.errors import install
from ecphoria.models.weights import MODEL, MULTILINGUAL
from ecphoria.text.languages import ENGLISH, main_language

_MANY: Final = frozenset(
    (
        "Arabic", "Chinese", "Dutch", ENGLISH, "French", "German", "Italian", "Japanese", "Korean",
        "Polish", "Portuguese", "Russian", "Spanish", "Thai", "Turkish",
    )
)  # fmt: skip
_READ: Final = {MODEL: frozenset({ENGLISH}), MULTILINGUAL: _MANY}
_LEAST: Final = 5
"""Smallest number of texts, in languages that a model does not read, that gives a warning."""
_NAMED: Final = 3


def languages_read(model: str) -> frozenset[str] | None:
    """Name the languages that a model was trained on; None if they are not known."""
    return _READ.get(model)


def remedy(languages: Collection[str]) -> str:
    """Tell how to get a model that reads these languages.

    >>> remedy(["Greek"])
    'use a model of sentence-transformers or of an endpoint that reads them'
    """
    if not _MANY.issuperset(languages):
        return "use a model of sentence-transformers or of an endpoint that reads them"
    return (
        f"to change it, {install('multilingual')}, then "
        f"`ecphoria reembed --provider local --model {MULTILINGUAL}`"
    )


class Unread:
    """Counts the texts whose language a model does not read."""

    def __init__(self, model: str) -> None:
        """Begin to count for a model."""
        self._model = model
        self._read = languages_read(model)
        self._told: Counter[str] = Counter()

    def take(self, texts: Iterable[str]) -> None:
        """Count the main language of each text, where something tells it."""
        if self._read is not None:
            self._told.update(filter(None, map(main_language, texts)))

    def warning(self) -> str | None:
        """Warn if half of the texts or more are in languages that the model does not read."""
        total = self._told.total()
        outside = [name for name, _ in self._told.most_common() if name not in (self._read or ())]
        count = sum(self._told[name] for name in outside)
        if count < _LEAST or 2 * count < total:
            return None
        return (
            f"{count:,} of {total:,} texts are in languages that the embedding model "
            f"{self._model} does not read ({', '.join(outside[:_NAMED])}), so search by meaning "
            f"finds little; {remedy(outside)}."
        )
