"""Namespaces of the asynchronous client for a service: jobs, settings, administration."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TypedDict, Unpack

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.exchange import (
    Call,
    body_of,
    body_with,
    change_late,
    converted,
    failure_of,
    late,
    segment,
)
from ecphoria.client.filters import CalibrationOptions, FitOptions

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0


class AsyncJobs(AsyncCalls):
    """Background jobs, and the cycles of consolidation among them."""

    async def list(
        self, *, state: records.job.JobState | None = None, limit: int = 100
    ) -> Sequence[records.job.Job]:
        """List jobs, the newest first."""
        return (await self._get(wire.upkeep.JobList, "/v1/jobs", state=state, limit=limit)).items

    async def get(self, job: str) -> records.job.Job:
        """Return a job: its state, and its report once it is done."""
        return await self._get(records.job.Job, f"/v1/jobs/{segment(job)}")

    async def wait(
        self,
        job: str,
        *,
        timeout_s: float = 600.0,
        watch: Callable[[records.job.Job], object] | None = None,
    ) -> records.job.Job:
        """Wait until a job is done.

        Args:
            job: Its id.
            timeout_s: Longest to wait.
            watch: Called with the job each time its state is fetched.

        Raises:
            Timeout: It has not ended by then; it goes on all the same.
            Conflict: It was cancelled.
            EcphoriaError: It failed; the error is the one it failed with.
        """
        until, pause = monotonic() + timeout_s, _FIRST_PAUSE_S
        while True:
            found = await self.get(job)
            if watch is not None:
                watch(found)
            if found.state is records.job.JobState.DONE:
                return found
            if found.state in records.job.ENDED:
                raise failure_of(found)
            if monotonic() > until:
                raise late(found, timeout_s)
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE_S)

    async def cancel(self, job: str) -> records.job.Job:
        """Cancel a job; a running one ends at its next checkpoint."""
        return await self._post(records.job.Job, f"/v1/jobs/{segment(job)}/cancel")

    async def retry(self, job: str) -> records.job.Job:
        """Queue a failed, dead or cancelled job again, with fresh attempts."""
        path = f"/v1/jobs/{segment(job)}/retry"
        return await self._post(records.job.Job, path, repeatable=False)

    async def start_consolidation(
        self, *, steps: Sequence[str] = (), dry_run: bool = False
    ) -> records.job.Job:
        """Queue a cycle of consolidation, or join the waiting one, without waiting for its end.

        Args:
            steps: Which steps to run; all if empty.
            dry_run: Tell what would change, and write nothing.
        """
        wanted = body_of(wire.upkeep.ConsolidationRequest, steps=steps, dry_run=dry_run)
        return await self._post(records.job.Job, "/v1/consolidation", wanted)

    async def last_consolidation(self) -> records.job.ConsolidationReport:
        """Return the report of the latest cycle; NotFound before the first."""
        return await self._get(records.job.ConsolidationReport, "/v1/consolidation")


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
        return await self._get(wire.settings.SettingsAnswer, _SETTINGS)

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
        trial = {
            "strategy": strategy,
            "options": converted(dict, options or {}),
            "share": float(share),
        }
        return await self.change(trial=trial)

    async def trial(self) -> wire.settings.TrialAnswer:
        """Show the default strategy, the one on trial, and how they compare.

        Needs the scope admin, as do the calls that change it.
        """
        return await self._get(wire.settings.TrialAnswer, "/v1/strategies/trial")

    async def promote(self) -> wire.settings.TrialAnswer:
        """Make the strategy on trial the tenant's default, and end the trial."""
        return await self._post(
            wire.settings.TrialAnswer, "/v1/strategies/promotions", repeatable=False
        )

    async def roll_back(self) -> wire.settings.TrialAnswer:
        """Go back to the default before the latest promotion."""
        return await self._ask(
            wire.settings.TrialAnswer,
            "DELETE",
            "/v1/strategies/promotions/latest",
            repeatable=False,
        )


_EMBEDDING = "/v1/embedding"


class AsyncAdmin(AsyncCalls):
    """Tenants, keys, the embedding model, the integrity and the calibration of a memory."""

    async def me(self) -> records.tenant.Me:
        """Describe the key in use: its tenant, and what it may do."""
        return await self._get(records.tenant.Me, "/v1/me")

    async def tenants(self) -> Sequence[records.tenant.Tenant]:
        """List the tenants by name; needs an operator's key."""
        return (await self._get(wire.admin.TenantList, "/v1/tenants")).items

    async def create_tenant(self, name: str) -> records.tenant.Tenant:
        """Create a tenant; needs an operator's key."""
        wanted = body_of(wire.admin.TenantRequest, name=name)
        return await self._post(records.tenant.Tenant, "/v1/tenants", wanted, repeatable=False)

    async def erase_tenant(self, name: str) -> wire.admin.ErasureAnswer:
        """Erase a tenant with everything it owns; returns the counts."""
        path = f"/v1/tenants/{segment(name)}"
        return await self._ask(wire.admin.ErasureAnswer, "DELETE", path, repeatable=False)

    async def disk(self) -> records.upkeep.Disk:
        """Read the size of the whole store on disk by kind; needs an operator's key."""
        return await self._get(records.upkeep.Disk, "/v1/disk")

    async def keys(self) -> Sequence[records.tenant.ApiKey]:
        """List the tenant's keys, without their secrets."""
        return (await self._get(wire.admin.KeyList, "/v1/keys")).items

    async def issue_key(
        self, name: str, scopes: Sequence[records.tenant.Scope], *, expires_in_s: int | None = None
    ) -> records.tenant.IssuedKey:
        """Issue a key of the tenant; only this answer holds its secret.

        Args:
            name: Its purpose.
            scopes: What it may do.
            expires_in_s: Seconds until it is refused; without it the key has no end.
        """
        wanted = body_of(
            wire.admin.KeyRequest, name=name, scopes=scopes, expires_in_s=expires_in_s
        )
        return await self._post(records.tenant.IssuedKey, "/v1/keys", wanted, repeatable=False)

    async def revoke_key(self, key: str) -> None:
        """Revoke a key by its id; it is refused within seconds."""
        await self._send(Call("DELETE", f"/v1/keys/{segment(key)}", repeatable=False))

    async def sign_out(self) -> None:
        """Revoke the key in use, if it is one that expires."""
        await self._send(Call("DELETE", "/v1/me", repeatable=False))

    async def explorer_ticket(self, *, write: bool = False) -> wire.admin.TicketAnswer:
        """Make a ticket that signs one browser in to the explorer, once, within two minutes.

        Needs the scope admin. Open `/explorer#ticket=TICKET` of the service with it.

        Args:
            write: Whether the browser may also change the memory.
        """
        wanted = body_of(wire.admin.TicketRequest, write=write)
        return await self._post(
            wire.admin.TicketAnswer, "/v1/explorer/tickets", wanted, repeatable=False
        )

    async def doctor(self, *, timeout_s: float = 600.0) -> records.upkeep.IntegrityReport:
        """Check the integrity of the graph and its counts; changes nothing.

        Needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
        """
        return await self._ask(
            records.upkeep.IntegrityReport, "GET", "/v1/doctor", timeout_s=timeout_s
        )

    async def calibrate(
        self,
        *,
        timeout_s: float = 600.0,
        watch: Callable[[records.job.Job], object] | None = None,
        **options: Unpack[CalibrationOptions],
    ) -> records.calibration.Calibration:
        """Fit a gate on questions made of the tenant's memories; needs the scope admin.

        It applies nothing; `settings.change(gate=...)` takes the gate.

        Args:
            timeout_s: Longest to wait for the end.
            watch: Called with the job each time its state is fetched.
            **options: See `CalibrationOptions`.
        """
        queued = await self.start_calibration(**options)
        jobs = AsyncJobs(self._connection)
        done = await jobs.wait(queued.id, timeout_s=timeout_s, watch=watch)
        assert done.calibration is not None, "a calibration that is done has a gate"
        return done.calibration

    async def start_calibration(self, **options: Unpack[CalibrationOptions]) -> records.job.Job:
        """Queue what `calibrate` does, without waiting for its end."""
        wanted = body_of(records.calibration.CalibrationOptions, **options)
        return await self._post(records.job.Job, "/v1/gate/calibrations", wanted)

    async def fit_gate(
        self,
        samples: Sequence[records.calibration.Sample],
        *,
        data_sha256: str | None = None,
        **options: Unpack[FitOptions],
    ) -> records.calibration.Calibration:
        """Fit a gate on labelled questions that were asked; needs the scope admin.

        Args:
            samples: The evidence of each question's recall; 5,000 at most.
            data_sha256: Of the file with the questions.
            **options: See `FitOptions`.
        """
        wanted = body_of(
            records.calibration.FitRequest,
            samples=tuple(samples),
            data_sha256=data_sha256,
            **options,
        )
        return await self._post(records.calibration.Calibration, "/v1/gate/fits", wanted)

    async def reset_extraction(self) -> None:
        """Have the step `extract` read every live episode again; results stay until replaced."""
        await self._send(Call("POST", "/v1/extraction/reset"))

    async def change_embedding(
        self,
        model: str,
        *,
        provider: records.embedding.Provider = "openai",
        dimension: int | None = None,
        request_dimension: bool = False,
        base_url: str | None = None,
    ) -> records.embedding.Reembedding:
        """Start to make the vectors of another model; the service switches when all are made.

        Args:
            model: Its name.
            provider: Maker of the vectors; `openai` is any endpoint with its API.
            dimension: Length of the vectors; needed for `openai`.
            request_dimension: Ask the endpoint for this dimension.
            base_url: Address of the endpoint; the service's setting if absent.
        """
        wanted = body_of(
            records.embedding.EmbedderChoice,
            model=model,
            provider=provider,
            dimension=dimension,
            request_dimension=request_dimension,
            base_url=base_url,
        )
        return await self._post(
            records.embedding.Reembedding, _EMBEDDING, wanted, repeatable=False
        )

    async def embedding_change(self) -> records.embedding.Reembedding:
        """Show the change of the model that is under way, or was the last."""
        return await self._get(records.embedding.Reembedding, _EMBEDDING)

    async def cancel_embedding_change(self) -> records.embedding.Reembedding:
        """Cancel the change before the switch; the store goes on with its old vectors."""
        return await self._ask(records.embedding.Reembedding, "DELETE", _EMBEDDING)

    async def wait_for_embedding(
        self,
        *,
        timeout_s: float = 3_600.0,
        watch: Callable[[records.embedding.Reembedding], object] | None = None,
        poll_s: float = 0.5,
    ) -> records.embedding.Reembedding:
        """Wait for the end of the change, and return how it ended.

        Args:
            timeout_s: Longest to wait; the change of a large store takes hours.
            watch: Called with the state of the change at each poll.
            poll_s: Seconds between two polls.

        Raises:
            Timeout: It has not ended by then; it goes on all the same.
        """
        until = monotonic() + timeout_s
        while True:
            found = await self.embedding_change()
            if watch is not None:
                watch(found)
            if found.state in records.embedding.ENDED:
                return found
            if monotonic() > until:
                raise change_late(found, timeout_s)
            await asyncio.sleep(poll_s)
