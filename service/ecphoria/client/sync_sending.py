# Generated from async_sending.py by scripts/generate_sync_client.py; edit that one.
"""Sends the calls of the synchronous client, again where that is safe, and reads the answers."""

import time
from collections.abc import Sequence
from typing import TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter

from ecphoria.client.exchange import Call, Parameter, Retries, error_of, unreachable
from ecphoria.wire.base import Request

__all__ = ["Sender"]

_Model = TypeVar("_Model", bound=BaseModel)


class Sender:
    """One connection, and how a call goes over it."""

    def __init__(self, base_url: str, http: httpx.Client, retries: Retries) -> None:
        self._base_url = base_url
        self._http = http
        self._retries = retries

    def _get(self, path: str, model: type[_Model], **parameters: Parameter) -> _Model:
        call = Call(method="GET", path=path, repeatable=True, parameters=parameters)
        return model.model_validate_json((self._send(call)).content)

    def _get_all(
        self, path: str, model: type[_Model], **parameters: Parameter
    ) -> Sequence[_Model]:
        call = Call(method="GET", path=path, repeatable=True, parameters=parameters)
        answer = self._send(call)
        return TypeAdapter(tuple[model, ...]).validate_json(answer.content)  # type: ignore[valid-type]  # a type made at run time

    def _post(
        self,
        path: str,
        body: Request,
        model: type[_Model],
        *,
        repeatable: bool,
        longer_s: float = 0.0,
    ) -> _Model:
        """Post a body; `longer_s` is how much longer than usual its answer may take."""
        usual = self._http.timeout.read
        call = Call(
            method="POST",
            path=path,
            repeatable=repeatable,
            body=body,
            timeout_s=usual + longer_s if usual and longer_s else None,
        )
        return model.model_validate_json((self._send(call)).content)

    def _send(self, call: Call) -> httpx.Response:
        attempt = 0
        while True:
            answer, cause = None, None
            try:
                answer = self._http.request(
                    call.method,
                    call.path,
                    params=call.query(),
                    headers=call.headers(),
                    content=call.content(),
                    timeout=call.timeout_s or httpx.USE_CLIENT_DEFAULT,
                )
            except httpx.TransportError as error:
                cause = error
                failure = unreachable(self._base_url, error)
            else:
                if answer.is_success:
                    return answer
                failure = error_of(answer)
            if not self._retries.allow(call, attempt, failure):
                raise failure from cause
            time.sleep(self._retries.pause_s(attempt, answer))
            attempt += 1
