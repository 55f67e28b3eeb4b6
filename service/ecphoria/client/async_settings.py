"""The calls of the asynchronous client about a tenant's settings and the strategy on trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict, Unpack

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.exchange import body_with

_SETTINGS = "/v1/settings"
Section = Mapping[str, str | int | float | bool | None]
"""Values by field; None resets a field."""


class Sections(TypedDict, total=False):
    """Sections of settings to change; None resets one to the default."""

    gate: wire.settings.GateRequest | Mapping[str, object] | None
    dormancy: Section | None
    expiry: Section | None
    learning: Section | None
    schedule: Section | None
    trial: Mapping[str, object] | None


class AsyncSettings(AsyncCalls):
    """The settings of a tenant, and the strategy on trial."""

    async def get(self) -> wire.settings.SettingsAnswer:
        """Show the settings in force, and which of them are the tenant's own."""
        return await self._ask(wire.settings.SettingsAnswer, "GET", _SETTINGS)

    async def change(self, **sections: Unpack[Sections]) -> wire.settings.SettingsAnswer:
        """Change the sections that are given, each in the fields that it has.

        `dormancy={"budget": 5_000}` changes one field, `dormancy={"budget": None}` resets it, and
        `dormancy=None` resets the section. `gate` and `trial` are replaced as a whole. Needs the
        scope admin.

        Args:
            sections: By name: `gate`, `dormancy`, `expiry`, `learning`, `schedule`, `trial`.

        Raises:
            InvalidInput: A name or a value is not allowed; the message says what is.
            UnknownStrategy: The strategy to try does not exist.
        """
        wanted = body_with(wire.settings.SettingsRequest, sections)
        return await self._ask(wire.settings.SettingsAnswer, "PATCH", _SETTINGS, wanted)

    async def try_strategy(
        self,
        strategy: str,
        *,
        options: Mapping[str, records.recall.OptionValue] | None = None,
        share: float = 0.1,
    ) -> wire.settings.SettingsAnswer:
        """Try a strategy in the shadow of the live one; answers stay as they are.

        `change(trial=None)` ends the trial. Needs the scope admin.

        Args:
            strategy: Its name.
            options: Its parameters, `preset` among them.
            share: Share of the cues, 0 to 1.
        """
        trial = {"strategy": strategy, "options": dict(options or {}), "share": float(share)}
        return await self.change(trial=trial)

    async def trial(self) -> wire.settings.TrialAnswer:
        """Show the default strategy, the one on trial, and how they compare.

        Needs the scope admin, as do the calls that change it.
        """
        return await self._ask(wire.settings.TrialAnswer, "GET", "/v1/strategies/trial")

    async def promote(self) -> wire.settings.TrialAnswer:
        """Make the strategy on trial the tenant's default, and end the trial."""
        return await self._ask(
            wire.settings.TrialAnswer, "POST", "/v1/strategies/promotions", repeatable=False
        )

    async def roll_back(self) -> wire.settings.TrialAnswer:
        """Go back to the default before the latest promotion."""
        return await self._ask(
            wire.settings.TrialAnswer,
            "DELETE",
            "/v1/strategies/promotions/latest",
            repeatable=False,
        )
