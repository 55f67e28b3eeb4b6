"""What every embedder asks of a text before it leaves our hands."""

from collections.abc import Sequence

from ecphoria.errors import InvalidInput

__all__ = ["require_encodable"]


def require_encodable(texts: Sequence[str]) -> None:
    """Refuse lone surrogates, which no tokenizer and no wire format can carry.

    Raises:
        InvalidInput: Names the text by its index and the character by its offset.
    """
    for index, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"Text {index} holds half of a surrogate pair at character {error.start}; "
                "send valid Unicode.",
                index=index,
                offset=error.start,
            ) from error
