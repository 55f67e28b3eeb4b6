"""The text of a turn, and what the rules read in it."""

from dataclasses import dataclass, field

from ecphoria.text.asking import Asking, read_asking
from ecphoria.text.statements import Statement, read_statements


@dataclass(slots=True)
class Spoken:
    """The text of a turn. The rules read it when it is first used, once, as this takes long.

    Attributes:
        text: Without its caption; empty if it is no turn, or too long to be only a question.
    """

    text: str
    _asking: Asking | None = field(default=None, compare=False)
    _statements: tuple[Statement, ...] | None = field(default=None, compare=False)

    @property
    def asking(self) -> Asking:
        """Whether the text states, asks, or says that nobody knows."""
        if self._asking is None:
            self._asking = read_asking(self.text)
        return self._asking

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of the text."""
        if self._statements is None:
            self._statements = read_statements(self.text)
        return self._statements
