"""Answers of a language model in a given structure, and a budget for its calls."""

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, date
from functools import partial
from pathlib import Path
from typing import Final, Generic, TypeVar

from httpx import AsyncHTTPTransport
from pydantic import ValidationError

from ecphoria.errors import Misconfigured, install
from ecphoria.models.cassette import Cassette
from ecphoria.models.structure import Structure, read_answer
from ecphoria.ports import (
    Chat,
    Clock,
    Form,
    JsonSchema,
    NoAnswer,
    NothingUsable,
    Reply,
    TextRefused,
)
from ecphoria.runtime import SystemClock
from ecphoria.settings import LlmSettings

_MINUTE_S: Final = 60.0
# One retry tells the model its faults, without the values (decision 0034).
_FAULTS: Final = 5
"""Faults of an answer that are told to the model."""


_Shape = TypeVar("_Shape", bound=Structure)


class Truncated(NothingUsable):
    """The answer was cut at the endpoint's limit of tokens: ask for less at once."""


class Enough(NothingUsable):
    """The caller had heard enough, and the stream was closed."""


class Unusable(NothingUsable):
    """The answer did not have the structure, twice."""


@dataclass(slots=True)
class _Spent:
    """The requests and tokens of one question so far."""

    calls: int = 0
    tokens: int = 0
    written: int = 0

    def add(self, reply: Reply) -> None:
        """Count a call that was answered."""
        self.calls += 1
        self.tokens += reply.tokens
        self.written += reply.written


@dataclass(frozen=True, slots=True, kw_only=True)
class Structured(Generic[_Shape]):
    """An answer in its structure.

    Attributes:
        tokens: Of all calls that were needed.
        written: Tokens that the model wrote, of these.
        calls: Number of calls, those included by which a form was refused.
    """

    value: _Shape
    tokens: int
    written: int
    calls: int


class StructuredChat:
    """Asks for JSON in the strictest form that the endpoint takes.

    The forms are tried from a strict schema over any JSON object to plain text; the first one
    that works is kept. An answer that does not fit is asked for once more, with its faults.
    """

    def __init__(self, chat: Chat) -> None:
        self.model = chat.model
        self._chat = chat
        # Endpoints differ: some enforce a schema, some only JSON, some neither. The form that
        # works is kept (decision 0034).
        self._forms = tuple(Form)

    async def ask(
        self,
        purpose: str,
        instruction: str,
        text: str,
        shape: type[_Shape],
        *,
        heard: Callable[[str], bool | None] | None = None,
        blames_text: bool = False,
    ) -> Structured[_Shape]:
        """Ask for an answer of a structure.

        Args:
            purpose: Label of the tokens in the metrics.
            instruction: The system message, without the schema.
            text: The user's message.
            shape: The structure.
            heard: Told the pieces of the first answer as they come, not those of a second one;
                returns whether it has heard enough.
            blames_text: Where the endpoint fails, find out by another text whether this one is
                the reason, and refuse it if it fails again.

        Raises:
            NoAnswer: The model does not answer.
            TextRefused: The endpoint takes this text in no form, or fails at it.
            Truncated: The answer was cut.
            Enough: `heard` had heard enough.
            Unusable: The answer does not have the structure, twice.
        """
        schema = JsonSchema(name=shape.__name__.strip("_"), schema=shape.schema_asked_for())
        told = f"{instruction}\n\nAnswer with one JSON object of this schema, and nothing else:\n"
        told += _compact(schema)
        wanted, spent = text, _Spent()
        try:
            for _ in range(2):
                ask = partial(
                    self._form_taken, spent, purpose, told, wanted, schema=schema, heard=heard
                )
                # A failure that a text may cause is proved by a harmless text, so an outage is not
                # taken for a fault of the text (decision 0046).
                reply = await (self._proved(spent, purpose, ask) if blames_text else ask())
                heard = None
                if reply.is_enough:
                    raise Enough
                if reply.is_cut:
                    # The caller asks for a cut answer in halves (decision 0034).
                    raise Truncated
                try:
                    value = read_answer(reply.text, shape)
                except ValidationError as error:
                    wanted = f"{text}\n\n{_complaint(error)}"
                else:
                    return Structured(
                        value=value, tokens=spent.tokens, written=spent.written, calls=spent.calls
                    )
            raise Unusable
        except NothingUsable as failed:
            failed.calls, failed.tokens, failed.written = spent.calls, spent.tokens, spent.written
            raise

    async def _proved(
        self, spent: _Spent, purpose: str, ask: Callable[[], Awaitable[Reply]]
    ) -> Reply:
        """Ask; if the endpoint fails at this text and not at another one, refuse the text.

        Raises:
            NoAnswer: The endpoint fails at any text.
            TextRefused: It fails at this text, twice.
        """
        try:
            return await ask()
        except NoAnswer as failed:
            if not failed.is_of_text:
                raise
            first = failed
        try:
            spent.add(await self._chat.ask(purpose, "Answer with one word.", "Hello."))
        except (NoAnswer, TextRefused) as failed:
            spent.calls += failed.calls
            raise first from None
        try:
            return await ask()
        except NoAnswer as again:
            if not again.is_of_text:
                raise
            raise TextRefused(f"the model's endpoint fails at a text: {again}") from again

    async def _form_taken(
        self,
        spent: _Spent,
        purpose: str,
        instruction: str,
        text: str,
        *,
        schema: JsonSchema,
        heard: Callable[[str], bool | None] | None,
    ) -> Reply:
        """Go down the forms until one is taken, and begin there from now on."""
        forms = self._forms
        for place, form in enumerate(forms):
            try:
                reply = await self._chat.ask(
                    purpose, instruction, text, form=form, schema=schema, heard=heard
                )
            except (NoAnswer, TextRefused) as failed:
                spent.calls += failed.calls
                # All forms refused means that the text is at fault, so no form is given up.
                if isinstance(failed, NoAnswer) or form is forms[-1]:
                    raise
            else:
                spent.add(reply)
                self._forms = forms[place:]
                return reply
        raise AssertionError("there is a last form")


def _compact(schema: JsonSchema) -> str:
    return json.dumps(schema.schema, ensure_ascii=False, separators=(",", ":"))


def _complaint(error: ValidationError) -> str:
    """Tell the faults without the values: a value may be a memory's text."""
    found = error.errors(include_input=False, include_context=False, include_url=False)
    lines = [
        f"- {'.'.join(map(str, fault['loc'])) or 'answer'}: {fault['msg']}"
        for fault in found[:_FAULTS]
    ]
    return "\n".join(("Your last answer did not fit the schema:", *lines, "Answer again."))


class BudgetedChat:
    """Holds a chat to a budget: a call above the rate waits, one above the day's tokens fails."""

    def __init__(
        self,
        chat: Chat,
        *,
        calls_a_minute: int | None = None,
        tokens_a_day: int | None = None,
        clock: Clock | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        waiting: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    ) -> None:
        """Hold a chat to its most calls in any 60 seconds, and its most tokens in a day of UTC.

        None means no limit. `waiting` is entered around each call, which may take a minute.
        """
        self._waiting = waiting
        self.model = chat.model
        self._chat = chat
        self._calls_a_minute = calls_a_minute
        self._tokens_a_day = tokens_a_day
        self._clock = clock or SystemClock()
        self._monotonic = monotonic
        self._sleep = sleep
        self._calls: deque[float] = deque()
        self._day: date | None = None
        self._spent = 0
        self._turn = asyncio.Lock()

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
        """Ask within the budget; NoAnswer where the day's tokens are used up."""
        async with self._waiting():
            async with self._turn:
                self._check_day()
                await self._wait()
            reply = await self._chat.ask(
                purpose, instruction, text, form=form, schema=schema, heard=heard
            )
        self._spent += reply.tokens
        return reply

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()

    def _check_day(self) -> None:
        today = self._clock.now().astimezone(UTC).date()
        if today != self._day:
            self._day, self._spent = today, 0
        most = self._tokens_a_day
        if most is not None and self._spent >= most:
            raise NoAnswer(
                f"the {most:,} tokens of ECPHORIA_LLM__TOKENS_A_DAY are used up until 00:00 UTC",
                calls=0,
            )

    async def _wait(self) -> None:
        most = self._calls_a_minute
        if most is None:
            return
        while len(self._calls) >= most:
            left = self._calls[0] + _MINUTE_S - self._monotonic()
            if left > 0:
                await self._sleep(left)
            self._calls.popleft()
        self._calls.append(self._monotonic())


def create_chat(
    model: str,
    settings: LlmSettings,
    counted: Callable[[str, str, int], None],
    waiting: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> Chat:
    """Connect to nothing yet.

    Args:
        model: Name of the model, as the endpoint knows it.
        settings: The endpoint, and the budget of its calls.
        counted: Told the purpose, `read` or `written`, and the tokens of each answer.
        waiting: Entered around each call, which may take a minute.

    Raises:
        Misconfigured: The package that asks a model is missing, or a cassette cannot be used.
    """
    try:
        from ecphoria.models.openai import OpenAIChat  # noqa: PLC0415 (optional extra)
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"ECPHORIA_LLM__MODEL needs the package openai: {install('server')}, or unset it.",
            setting="ECPHORIA_LLM__MODEL",
        ) from error
    replayed = settings.replay is not None
    chat = OpenAIChat(
        model,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        timeout=settings.timeout_s,
        retries=0 if replayed else settings.retries,
        counted=counted,
        transport=_cassette(settings.record, settings.replay),
    )
    return BudgetedChat(
        chat,
        calls_a_minute=None if replayed else settings.calls_a_minute,
        tokens_a_day=None if replayed else settings.tokens_a_day,
        waiting=waiting,
    )


def _cassette(record: Path | None, replay: Path | None) -> Cassette | None:
    if record is not None and replay is not None:
        raise Misconfigured(
            "ECPHORIA_TEST_LLM__RECORD and ECPHORIA_TEST_LLM__REPLAY are both set; unset one.",
            setting="ECPHORIA_TEST_LLM__RECORD",
        )
    if replay is not None:
        return Cassette(replay, None)
    return Cassette(record, AsyncHTTPTransport()) if record is not None else None
