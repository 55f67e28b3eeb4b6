"""The price of a language model's tokens, from a table that the user brings."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from ecphoria.errors import InvalidInput

_MILLION = 1_000_000

_Price = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


@checked(frozen=True)
class Price:
    """The price of a million tokens, in the currency of the table.

    Attributes:
        input: Tokens that the model reads.
        output: Tokens that it writes.
    """

    input: _Price
    output: _Price

    def of(self, tokens: float, written: float) -> float:
        """Give the price of tokens, of which some were written."""
        return ((tokens - written) * self.input + written * self.output) / _MILLION


_TABLE: TypeAdapter[dict[str, Price]] = TypeAdapter(dict[str, Price])


def read_price(file: Path | None, model: str | None) -> Price | None:
    """Look a model up in a table such as `{"NAME": {"input": 0.15, "output": 0.6}}`.

    Args:
        file: The table; None for no prices.
        model: Its name in the table; None for the oracle, which has no price.

    Raises:
        InvalidInput: The file is no such table, or lacks the model.
    """
    if file is None:
        return None
    if model is None:
        raise InvalidInput("The oracle costs nothing; leave out the prices.", field="prices")
    try:
        table = _TABLE.validate_json(file.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{file.name} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise InvalidInput(
            f"{file.name} is no table of prices; write"
            ' {"NAME": {"input": 0.15, "output": 0.6}}, with the prices of a million tokens.',
            field="prices",
        ) from error
    if model not in table:
        known = ", ".join(sorted(table)) or "none"
        raise InvalidInput(
            f"{file.name} has no price of {model}; it has: {known}.", field="prices"
        )
    return table[model]
