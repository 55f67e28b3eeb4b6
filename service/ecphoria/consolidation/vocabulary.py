"""Recount words and names from what episodes say, by the rules that counted them first."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ecphoria.extraction.rules import extract
from ecphoria.graph.doctor import NameCounts, Said
from ecphoria.model.checkup import Symptom

__all__ = ["Vocabulary"]

_NOBODY = NameCounts(titles=0, candidates=0)


class Vocabulary:
    """Which words and names the episodes have; grows with them, not with the episodes."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._titles: Counter[str] = Counter()
        self._candidates: Counter[str] = Counter()
        self._unread = 0

    def take(self, page: Iterable[Said]) -> None:
        """Count what episodes say; what is archived may say anything."""
        for one in page:
            if one.text is None:
                self._unread += 1
                continue
            found = extract(one.title, one.text)
            self._words.update(found.lower)
            self._candidates.update(named.name for named in found.candidates)
            if found.title:
                self._titles[found.title.name] += 1

    def differences(
        self, words: Mapping[str, int], names: Mapping[str, NameCounts]
    ) -> Iterator[Symptom]:
        """Tell which words and names are miscounted."""
        for word in sorted(words.keys() | self._words.keys()):
            yield from self._miscounted(word, "items", words.get(word, 0), self._words[word])
        for name in sorted(names.keys() | self._titles.keys() | self._candidates.keys()):
            kept = names.get(name, _NOBODY)
            yield from self._miscounted(name, "titles", kept.titles, self._titles[name])
            yield from self._miscounted(
                name, "candidates", kept.candidates, self._candidates[name]
            )

    def _miscounted(self, name: str, what: str, kept: int, found: int) -> Iterator[Symptom]:
        if not 0 <= kept - found <= self._unread:
            yield Symptom(id=name, detail=f"{what}: {kept} stored, {found} found")
