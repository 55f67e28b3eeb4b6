"""Answers from an endpoint that speaks OpenAI's `/chat/completions`, hosted or one's own."""

from collections.abc import Callable
from typing import Final

from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAIError
from pydantic import BaseModel, Field, ValidationError

from ecphoria.ports.chat import NoAnswer, Reply, TextRefused

__all__ = ["OpenAIChat"]

_REFUSED_TEXTS: Final = frozenset({400, 413, 422})

Counted = Callable[[str, str, int], None]
"""Told the purpose, `read` or `written`, and how many tokens."""


class _Message(BaseModel, hide_input_in_errors=True):
    content: str


class _Choice(BaseModel, hide_input_in_errors=True):
    message: _Message


class _Usage(BaseModel, hide_input_in_errors=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Answer(BaseModel, hide_input_in_errors=True):
    """What is used of an answer; some compatible servers leave the rest out."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class OpenAIChat:
    """Sends one message at a time; implements `ports.chat.Chat`.

    Neither temperature nor a limit of tokens is sent: there are models that refuse either.
    What an endpoint says about a failure is not passed on: it may quote the text.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        counted: Counted = lambda _purpose, _direction, _tokens: None,
    ) -> None:
        """Connect to nothing yet.

        Args:
            model: The endpoint's name of the model.
            base_url: The address up to and without `/chat/completions`.
            api_key: Sent as bearer token; servers on the own machine often need none.
            timeout: Seconds to wait for one answer.
            retries: Further attempts after a timeout, a lost connection, a 429 or a 5xx.
            counted: Told the tokens of each answer, as the endpoint counts them.
        """
        self._model = model
        self._counted = counted
        self._client = AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout, max_retries=retries
        )

    @property
    def model(self) -> str:
        """Its name."""
        return self._model

    async def ask(self, purpose: str, instruction: str, text: str) -> Reply:
        """Ask it, for a purpose that is counted."""
        try:
            response = await self._client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": instruction},
                    {"role": "user", "content": text},
                ],
            )
            answer = _Answer.model_validate_json(response.content)
        except APIStatusError as error:
            raise _refusal(error.status_code) from None  # its body may quote the text
        except APIConnectionError as error:
            raise NoAnswer("the model's endpoint does not answer; check its address") from error
        except (OpenAIError, ValidationError) as error:
            raise NoAnswer(
                "the model's endpoint answers something else than text; check its address"
            ) from error
        usage = answer.usage or _Usage()
        self._counted(purpose, "read", usage.prompt_tokens)
        self._counted(purpose, "written", usage.completion_tokens)
        return Reply(
            text=answer.choices[0].message.content,
            tokens=usage.prompt_tokens + usage.completion_tokens,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _refusal(status: int) -> NoAnswer | TextRefused:
    if status in _REFUSED_TEXTS:
        return TextRefused(f"the model's endpoint refused a text (HTTP {status})")
    return NoAnswer(
        f"the model's endpoint answered HTTP {status}; check its key, its model and its limits"
    )
