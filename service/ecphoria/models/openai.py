"""Embeddings and chat from a server that speaks the OpenAI API."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from math import isnan
from typing import Annotated, Any, Final

import numpy as np
from httpx import AsyncBaseTransport, HTTPError
from numpy.typing import NDArray
from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    Omit,
    OpenAIError,
    omit,
)
from openai.types.chat import ChatCompletionMessageParam
from openai.types.chat.completion_create_params import ResponseFormat
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ecphoria.errors import EcphoriaError, EncoderUnavailable, InvalidInput, Misconfigured
from ecphoria.models.cassette import REFUSED_TEXTS, Unrecorded
from ecphoria.models.endpoint import AnswerTooLong, open_client
from ecphoria.models.structure import Perhaps
from ecphoria.ports import Form, JsonSchema, NoAnswer, Reply, TextRefused, TextsNotEmbedded
from ecphoria.runtime import require_encodable

_MOST_BYTES: Final = 4 * 2**20
"""Longest answer of a language model, with all that an endpoint puts around each piece."""
_BYTES_A_NUMBER: Final = 32
"""A number of a vector, as text."""
_MOST_TOKENS: Final = 100_000_000
# If this text fails too, it is an outage and the work stops; if it succeeds, the other text is at
# fault (decision 0046).
_PROBE: Final = "Hello."
"""A text at which no endpoint fails by itself."""


class _Read(BaseModel):
    """Fields of an answer that are read; some compatible servers omit the others."""

    model_config = ConfigDict(hide_input_in_errors=True)


class VectorItem(_Read):
    """The vector of the text at `index` of the request; without an index by its place."""

    index: int | None = None
    embedding: Any = None


class VectorsAnswer(_Read):
    """The fields of an answer that are read; some compatible servers omit the others."""

    data: list[VectorItem]


class OpenAIEmbedder:
    """Sends texts in batches and gives their vectors length 1, whatever the endpoint gives.

    What an endpoint says about a failure is not passed on: it may quote the texts.
    """

    def __init__(
        self,
        model: str,
        *,
        dimension: int,
        base_url: str,
        api_key: str | None = None,
        request_dimension: bool = False,
        batch_size: int = 256,
        timeout: float = 30.0,
        retries: int = 3,
    ) -> None:
        """Connect to nothing yet.

        Args:
            model: The endpoint's name of the model, kept beside the vectors.
            dimension: Numbers of a vector; another count in an answer is refused.
            base_url: The address up to and without `/embeddings`.
            api_key: Sent as bearer token; servers on the own machine often need none.
            request_dimension: Ask for this dimension, for models that can shorten vectors.
            batch_size: Texts of one request.
            timeout: Seconds for one answer, further attempts included.
            retries: Further attempts after a lost connection, a 429 or a 5xx.

        Raises:
            Misconfigured: A proxy of the environment cannot be used.
        """
        self.model = model
        self.dimension = dimension
        self._request_dimension = request_dimension
        self._batch_size = batch_size
        self._retries = retries
        self._timeout = timeout
        most_bytes = _MOST_BYTES + batch_size * dimension * _BYTES_A_NUMBER
        self._client = _client(
            base_url,
            api_key,
            timeout,
            retries,
            open_client(base_url, timeout=timeout, most_bytes=most_bytes),
        )

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [n, dimension] in the order of the texts.

        Raises:
            InvalidInput: A text holds a lone surrogate, or the endpoint refuses a single text.
            EncoderUnavailable: The endpoint does not answer, or not with usable vectors.
            TextsNotEmbedded: Some of several texts have no vector.
            Misconfigured: Its vectors have another dimension.
        """
        require_encodable(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        faults: dict[int, EcphoriaError] = {}
        for start in range(0, len(texts), self._batch_size):
            batch = texts[start : start + self._batch_size]
            made = await self._batch(batch)
            for place, one in enumerate(made, start):
                if isinstance(one, EcphoriaError):
                    faults[place] = one
                else:
                    vectors[place] = one
        wrong = all(isinstance(fault, Misconfigured) for fault in faults.values())
        if faults and len(faults) == len(texts) and (wrong or len(texts) == 1):
            raise faults[0]
        if faults:
            raise TextsNotEmbedded(vectors, faults)
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _batch(
        self, texts: Sequence[str], *, is_whole: bool = True
    ) -> list[NDArray[np.float64] | EcphoriaError]:
        """Give the unit vector of each text, or why it has none.

        If a request fails that another text does not make fail, its halves are asked for, so
        that one text costs only itself.

        Raises:
            EcphoriaError: The endpoint fails at any text.
        """
        try:
            # A part is asked for once, so that one text does not cost many waits.
            retries = self._retries if is_whole or len(texts) == 1 else 0
            return [self._unit_row(row) for row in await self._request(texts, retries)]
        except (InvalidInput, EncoderUnavailable) as error:
            if not _is_of_text(error):
                raise
            if not isinstance(error, InvalidInput):
                await self._request([_PROBE], 0)
            if len(texts) == 1:
                return [_fault_of_text(error)]
            refused = isinstance(error, InvalidInput)
        made: list[NDArray[np.float64] | EcphoriaError] = []
        middle = len(texts) // 2
        for half in (texts[:middle], texts[middle:]):
            made += await self._batch(half, is_whole=False)
        if refused and not any(isinstance(one, EcphoriaError) for one in made):
            # It takes each of them, and not so many at once.
            self._batch_size = min(self._batch_size, len(texts) - middle)
        return made

    async def _request(self, texts: Sequence[str], retries: int) -> list[Any]:
        try:
            async with asyncio.timeout(self._timeout):
                client = self._client.with_options(max_retries=retries)
                response = await client.embeddings.with_raw_response.create(
                    model=self.model,
                    input=[text or " " for text in texts],  # the API refuses an empty text
                    dimensions=self.dimension if self._request_dimension else omit,
                    encoding_format="float",
                )
            answer = VectorsAnswer.model_validate_json(response.content)
        except APIStatusError as error:
            # Its body may quote the texts.
            raise self._refusal(error.status_code) from None
        except (APIConnectionError, TimeoutError) as error:
            raise EncoderUnavailable(
                f"The embedding endpoint {_failure(error, 'EMBEDDER')}."
            ) from error
        except (OpenAIError, ValidationError) as error:
            raise EncoderUnavailable(
                "The embedding endpoint answers something else than vectors; check its address."
            ) from error
        rows = _in_order(answer.data)
        if len(rows) != len(texts):
            raise EncoderUnavailable(
                f"The embedding endpoint gave {len(rows)} vectors for {len(texts)} texts; set "
                "ECPHORIA_EMBEDDER__BATCH_SIZE to the number of texts that it takes."
            )
        return rows

    def _refusal(self, status: int) -> InvalidInput | EncoderUnavailable:
        if status in REFUSED_TEXTS:
            return InvalidInput(
                f"The embedding endpoint refused the texts (HTTP {status}); they may be longer "
                f"than {self.model} takes, or more than it takes at once: then set "
                "ECPHORIA_EMBEDDER__BATCH_SIZE.",
                status=status,
            )
        if _is_redirect(status):
            return EncoderUnavailable(
                f"The embedding endpoint redirects to another address (HTTP {status}), which is "
                "not followed; set ECPHORIA_EMBEDDER__BASE_URL to the address itself.",
                status=status,
            )
        return EncoderUnavailable(
            f"The embedding endpoint answered HTTP {status}; check its key, its model and its "
            "limits.",
            status=status,
        )

    def _unit_row(self, row: object) -> NDArray[np.float64] | EcphoriaError:
        try:
            values = np.asarray(row, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.zeros(0)
        if values.ndim != 1 or not values.size:
            return EncoderUnavailable("The embedding endpoint gave a text no vector.")
        if values.size != self.dimension:
            return Misconfigured(
                f"{self.model} gives vectors of {values.size} numbers, the setting says "
                f"{self.dimension}; set the dimension to what the model gives.",
                dimension=values.size,
            )
        with np.errstate(over="ignore"):
            length = np.linalg.norm(values)
        if not (np.isfinite(length) and length > 0):
            return EncoderUnavailable("The embedding endpoint gave a vector without direction.")
        return np.asarray(values / length)


def _in_order(items: list[VectorItem]) -> list[Any]:
    """Give the vectors by their index, or as they came if any has none."""
    indices = [item.index for item in items]
    if None not in indices:
        items = sorted(items, key=lambda item: item.index or 0)
    return [item.embedding for item in items]


def _client(
    base_url: str, api_key: str | None, timeout: float, retries: int, sender: Any
) -> AsyncOpenAI:
    # From version 3 on, the package's types name its own copy of httpx; it takes either.
    return AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or "none",
        timeout=timeout,
        max_retries=retries,
        http_client=sender,
    )


def _fault_of_text(error: InvalidInput | EncoderUnavailable) -> EcphoriaError:
    """Tell that a text is at fault, after another one was embedded."""
    if isinstance(error, InvalidInput):
        return error
    return InvalidInput(
        f"The embedding endpoint fails at this text and not at another one: {error.message} "
        "Change the text, or send a vector with it."
    )


def _is_of_text(error: InvalidInput | EncoderUnavailable) -> bool:
    """Tell whether a text may be the reason, rather than the key, the address or an outage."""
    status = error.fields.get("status")
    if isinstance(status, int):
        return status in REFUSED_TEXTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    cause = error.__cause__
    return not isinstance(cause, APIConnectionError) or _is_no_outage(cause)


def _is_no_outage(error: BaseException) -> bool:
    """Tell whether the endpoint took the request, and only the answer failed."""
    cause = error.__cause__
    return isinstance(error, TimeoutError | APITimeoutError) or isinstance(cause, AnswerTooLong)


def _failure(error: BaseException, group: str) -> str:
    """Tell what failed and the remedy; `group` is that of the settings."""
    if isinstance(error.__cause__, AnswerTooLong):
        return f"cannot be used: {error.__cause__}; check its address"
    if _is_no_outage(error):
        return (
            f"does not answer in time; set ECPHORIA_{group}__TIMEOUT_S to more, or ask a faster "
            "model"
        )
    return "does not answer; try again, or check its address"


def _is_redirect(status: int) -> bool:
    return HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST


Counted = Callable[[str, str, int], None]
"""Told the purpose, `read` or `written`, and how many tokens."""


def _counted(value: Any) -> int:
    """Read a count; what is none counts nothing, and none is larger than any answer can be."""
    if isinstance(value, bool) or not isinstance(value, int | float) or isnan(value):
        return 0
    return int(min(max(value, 0), _MOST_TOKENS))


class _Call(_Read):
    arguments: Any = None


class _ToolCall(_Read):
    function: Perhaps[_Call] = None


class _Message(_Read):
    """A message or a piece of one: text, text in parts, or the arguments of a call."""

    content: Any = None
    tool_calls: Perhaps[list[_ToolCall]] = None
    function_call: Perhaps[_Call] = None

    @property
    def text(self) -> str:
        """Its words; empty for a refusal, and where the model ran out of tokens before any."""
        content = self.content
        parts = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        said = "".join(text for text in texts if isinstance(text, str))
        if said.strip():
            return said
        calls = [call.function for call in self.tool_calls or ()] + [self.function_call]
        given = next((call.arguments for call in calls if call is not None), None)
        return (given if isinstance(given, str) else json.dumps(given)) if given else said


class _Choice(_Read):
    message: _Message
    finish_reason: Perhaps[str] = None


class _Usage(_Read):
    prompt_tokens: Annotated[int, BeforeValidator(_counted)] = 0
    completion_tokens: Annotated[int, BeforeValidator(_counted)] = 0


class _Answer(_Read):
    """The fields of an answer that are read; some compatible servers omit the others."""

    choices: list[_Choice] = Field(min_length=1)
    usage: Perhaps[_Usage] = None


class _PartOfChoice(_Read):
    delta: Perhaps[_Message] = None
    finish_reason: Perhaps[str] = None


class _Part(_Read):
    """The fields of a piece of a streamed answer that are read."""

    choices: Perhaps[list[_PartOfChoice]] = None
    usage: Perhaps[_Usage] = None


@dataclass(frozen=True, slots=True)
class _Said:
    """An answer, read as a whole or in pieces."""

    text: str
    usage: _Usage
    finish_reason: str | None
    streamed: bool = False
    is_enough: bool = False


class OpenAIChat:
    """Sends one message at a time; implements `ports.Chat`.

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
        transport: AsyncBaseTransport | None = None,
    ) -> None:
        """Connect to nothing yet.

        Args:
            model: The endpoint's name of the model.
            base_url: The address up to and without `/chat/completions`.
            api_key: Sent as bearer token; servers on the own machine often need none.
            timeout: Seconds for one answer, streamed or not, further attempts included.
            retries: Further attempts after a lost connection, a 429 or a 5xx.
            counted: Told the tokens of each answer, as the endpoint counts them.
            transport: Sends the requests; None for the usual one.

        Raises:
            Misconfigured: A proxy of the environment cannot be used.
        """
        self.model = model
        self._timeout = timeout
        self._counted = counted
        self._streams = True
        sender = open_client(
            base_url, timeout=timeout, most_bytes=_MOST_BYTES, transport=transport
        )
        self._client = _client(base_url, api_key, timeout, retries, sender)

    async def ask(
        self,
        purpose: str,
        instruction: str,
        text: str,
        *,
        form: Form = Form.TEXT,
        schema: JsonSchema | None = None,
        heard: Callable[[str], bool | None] | None = None,
    ) -> Reply:
        """Ask it, for a purpose that is counted."""
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": instruction},
            {"role": "user", "content": text},
        ]
        wanted = _response_format(form, schema)
        try:
            async with asyncio.timeout(self._timeout):
                if heard is None or not self._streams:
                    said = await self._whole(messages, wanted)
                else:
                    said = await self._streamed(messages, wanted, heard)
        except APIStatusError as error:
            raise _refusal(error.status_code) from None  # its body may quote the text
        except (APIConnectionError, TimeoutError) as error:
            if isinstance(error.__cause__, Unrecorded):
                raise NoAnswer(str(error.__cause__)) from error
            raise NoAnswer(
                f"the model's endpoint {_failure(error, 'LLM')}", is_of_text=_is_no_outage(error)
            ) from error
        except (OpenAIError, ValidationError, HTTPError) as error:
            raise NoAnswer(
                "the model's endpoint answers something else than text; check its address",
                is_of_text=True,
            ) from error
        self._counted(purpose, "read", said.usage.prompt_tokens)
        self._counted(purpose, "written", said.usage.completion_tokens)
        if heard is not None and not said.streamed:
            heard(said.text)
        return Reply(
            text=said.text,
            tokens=said.usage.prompt_tokens + said.usage.completion_tokens,
            written=said.usage.completion_tokens,
            is_cut=said.finish_reason == "length",
            is_enough=said.is_enough,
        )

    async def _whole(
        self, messages: list[ChatCompletionMessageParam], wanted: ResponseFormat | Omit
    ) -> _Said:
        response = await self._client.chat.completions.with_raw_response.create(
            model=self.model, messages=messages, response_format=wanted
        )
        answer = _Answer.model_validate_json(response.content)
        choice = answer.choices[0]
        return _Said(choice.message.text, answer.usage or _Usage(), choice.finish_reason)

    async def _streamed(
        self,
        messages: list[ChatCompletionMessageParam],
        wanted: ResponseFormat | Omit,
        heard: Callable[[str], bool | None],
    ) -> _Said:
        """Ask for a stream; an endpoint that refuses it is asked for the whole from now on."""
        try:
            stream = await self._client.chat.completions.create(
                model=self.model,
                messages=messages,
                response_format=wanted,
                stream=True,
                stream_options={"include_usage": True},
            )
        except APIStatusError as error:
            if error.status_code not in REFUSED_TEXTS:
                raise
            said = await self._whole(messages, wanted)  # raises too where the text is at fault
            self._streams = False
            return said
        pieces: list[str] = []
        usage, finish, is_enough = _Usage(), None, False
        async with stream:
            async for event in stream:
                part = _Part.model_validate(event.model_dump(warnings=False))
                usage = part.usage or usage
                for choice in (part.choices or ())[:1]:
                    finish = choice.finish_reason or finish
                    if choice.delta is not None and (text := choice.delta.text):
                        pieces.append(text)
                        is_enough = bool(heard(text))
                if is_enough:
                    break
        return _Said("".join(pieces), usage, finish, streamed=True, is_enough=is_enough)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _response_format(form: Form, schema: JsonSchema | None) -> ResponseFormat | Omit:
    if form is Form.JSON:
        return {"type": "json_object"}
    if form is Form.SCHEMA and schema is not None:
        content = dict(schema.schema)
        return {
            "type": "json_schema",
            "json_schema": {"name": schema.name, "schema": content, "strict": True},
        }
    return omit


def _refusal(status: int) -> NoAnswer | TextRefused:
    if status in REFUSED_TEXTS:
        return TextRefused(f"the model's endpoint refused a text (HTTP {status})")
    if _is_redirect(status):
        return NoAnswer(
            f"the model's endpoint redirects to another address (HTTP {status}), which is not "
            "followed; set ECPHORIA_LLM__BASE_URL to the address itself"
        )
    return NoAnswer(
        f"the model's endpoint answered HTTP {status}; check its key, its model and its limits",
        is_of_text=status >= HTTPStatus.INTERNAL_SERVER_ERROR,
    )
