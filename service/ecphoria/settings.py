"""Settings of the service, each an environment variable; read once at start."""

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from ecphoria.errors import Misconfigured
from ecphoria.hosts import is_loopback
from ecphoria.records.settings import EpisodeCount, Hours, Minutes, Schedule, TimeOfDay

PREFIX = "ECPHORIA_"
DELIMITER = "__"
CLIENT_VARIABLES = frozenset(
    {
        "ECPHORIA_URL",
        "ECPHORIA_API_KEY",
        "ECPHORIA_TENANT",
        "ECPHORIA_SOURCE_USER",
        "ECPHORIA_SOURCE_PASSWORD",
    }
)
"""Read by the command line for its client, never by the service."""
TEST_PREFIX = "ECPHORIA_TEST_"
"""Read by the tests of this project; in place of the other prefix, for fields that are `INNER`."""

OPENAI_URL = "https://api.openai.com/v1"

Folder = Annotated[Path, AfterValidator(Path.expanduser)]
Port = Annotated[int, Field(ge=1, le=65_535)]
Seconds = Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)]
INNER = "inner"
"""Mark of a field that no operator needs: a tool of tests, or a time that only tests change."""


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Neo4jSettings(_Group):
    """The store. Without an address, a private local Neo4j is fetched and run."""

    uri: str | None = None
    """Address of your own server (`bolt://`, `neo4j://`, `+s` for TLS); empty: a local one."""
    user: str = "neo4j"
    """User on your own server."""
    password: SecretStr = SecretStr("")
    """Password on your own server."""
    database: str = Field(default="neo4j", min_length=1)
    """Database that holds the memories."""
    query_timeout_s: Seconds = 30.0
    """Timeout of a query on the server, in seconds."""
    first_query_timeout_s: Seconds = 300.0
    """The same before the first success of a query since the start, in seconds: Neo4j has yet to
    plan it, which takes long on a slow machine. The first read of each path has this limit too."""
    retry_s: Annotated[Seconds, INNER] = 15.0
    """Time limit for retries of transient errors of the server, in seconds."""
    connect_timeout_s: Annotated[Seconds, INNER] = 10.0
    """Timeout of a connection attempt, in seconds."""
    connections: int = Field(default=50, ge=1, le=1_000)
    """Maximum number of open connections."""


class EngineGroup(_Group):
    """The private local Neo4j, used when no address is set."""

    home: Folder | None = None
    """Folder of the server and its data; `engine` in the service's home if empty."""
    java: Folder | None = None
    """Java 21 or newer to run it with; if empty, the one installed by pip."""
    repository: str | None = None
    """Address of the Maven repository to fetch it from; the public one if empty."""
    java_options: str = ""
    """More options for Java, with spaces between; `-XX:TieredStopAtLevel=1` starts sooner and is
    slower later."""
    conf: dict[str, str] = Field(default_factory=dict)
    """More settings of Neo4j, as a JSON object of texts; those that Ecphoria sets stay."""
    heap_mb: int | None = Field(default=None, ge=256)
    """Memory for its objects, in MB; an eighth of the machine's if empty."""
    page_cache_mb: int | None = Field(default=None, ge=8)
    """Memory for pages of the store, in MB; an eighth of the machine's if empty."""
    bolt_port: Port | None = None
    """Loopback port of its Bolt connector; a free one if empty."""
    http_port: Port | None = None
    """Loopback port of Neo4j Browser; a free one if empty."""
    start_timeout_s: Annotated[Seconds, INNER] = 180.0
    """Longest time in which its log may stand still while it starts, in seconds."""
    tx_log_hours: int = Field(default=48, ge=1, le=8_760)
    """Hours to keep a full transaction log; it holds erased texts until then."""


class EmbedderSettings(_Group):
    """The model that turns texts into vectors; a store is bound to one."""

    provider: Literal["local", "sentence-transformers", "openai"] = "local"
    """Maker of the vectors; `openai` is any endpoint with its API."""
    model: str = Field(default="all-MiniLM-L6-v2", min_length=1)
    """Name of the model, kept beside the vectors; `local` has also `use-multilingual-v3`."""
    weights_dir: Folder | None = None
    """Folder with the model's files, the only place to look if set (not for `openai` and
    `use-multilingual-v3`)."""
    threads: int | None = Field(default=None, ge=1, le=1_024)
    """Cores to use; all if empty (not for `openai`)."""
    dimension: int | None = Field(default=None, ge=1, le=4_096)
    """Length of the vectors; needed for `openai`, checked for the others."""
    request_dimension: bool = False
    """Ask the endpoint for this dimension (`openai`)."""
    base_url: str = OPENAI_URL
    """Address of the endpoint, up to and without `/embeddings` (`openai`)."""
    api_key: SecretStr | None = None
    """Key of the endpoint (`openai`)."""
    batch_size: int = Field(default=256, ge=1, le=2_048)
    """Number of texts in a request (`openai`)."""
    timeout_s: Seconds = 30.0
    """Longest wait for one answer in all, in seconds, retries included (`openai`)."""
    retries: int = Field(default=3, ge=0, le=20)
    """Retries after a transient failure (`openai`)."""


class AuthSettings(_Group):
    """Authentication."""

    enabled: bool = True
    """Whether callers need an API key; if false, the service listens on loopback only."""
    bootstrap_key: SecretStr | None = Field(default=None, min_length=32)
    """An operator's key of your own, at least 32 random characters; if empty, one is made."""
    cache_s: Annotated[float, INNER] = Field(default=5.0, ge=0, le=60, allow_inf_nan=False)
    """Seconds for which the service caches keys and names of tenants. A key that another process
    revokes still works for this time, and so does the name of a tenant that another process
    erases; the tenant is then empty."""


class ServerSettings(_Group):
    """Address and limits of the HTTP server."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on; `0.0.0.0` for all."""
    port: int = Field(default=8765, ge=0, le=65_535)
    """Port to listen on; 0 takes a free one."""
    public_host: str | None = Field(default=None, min_length=1)
    """Host names under which others call the service, with commas between them, such as
    `memory.example.org`. Requests to other names are refused (`unknown-host`), except for
    `localhost`, loopback addresses, `ECPHORIA_SERVER__HOST`, and all addresses if that is
    `0.0.0.0` or `::`."""
    body_limit_mb: float = Field(default=16.0, gt=0, le=1_024, allow_inf_nan=False)
    """Largest body of an append, in MB (10^6 bytes); other bodies may have 256 kB."""
    shutdown_s: Seconds = 15.0
    """Time limit of a stop, in seconds: two thirds for open requests, the rest for jobs and
    connections. A local Neo4j then has up to 30 s more. What still runs then is cut off."""
    connections: int = Field(default=1_000, ge=1, le=100_000)
    """Maximum number of open connections; more are answered with 503."""
    headers_s: Annotated[Seconds, INNER] = 10.0
    """Timeout of the headers of a request, in seconds; then the connection is closed."""
    body_s: Annotated[Seconds, INNER] = 30.0
    """Timeout of the body of a request, in seconds."""
    tls_certificate: Folder | None = None
    """File with the server's certificate and those that signed it (PEM); empty: no TLS."""
    tls_key: Folder | None = None
    """File with the certificate's key (PEM)."""
    tls_key_password: SecretStr | None = None
    """Password of the key, if it has one."""


class LimitsSettings(_Group):
    """Limits on running, waiting and arriving requests, for each tenant and in all."""

    concurrent: int | None = Field(default=None, ge=1, le=1_000)
    """Requests of one tenant processed at once; empty: the number of cores, at least 2. One more
    is kept for other tenants. Active tenants get equal shares; the others wait."""
    bulk: int = Field(default=2, ge=1, le=1_000)
    """Slow requests of one tenant processed at once: batches, appends over 32 kB, erasures, the
    doctor. One more is kept for other tenants."""
    waiting: int = Field(default=256, ge=0, le=100_000)
    """Maximum number of waiting requests of one tenant; more are refused (`too-many-requests`)."""
    wait_s: Seconds = 10.0
    """Time limit of waiting, in seconds; then the request is refused."""
    read_s: Seconds = 60.0
    """Timeout of a recall or another read, in seconds; its queries are stopped then."""
    tenant_rate: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    """Requests a second of one tenant, on average over ten seconds; empty: no limit."""
    key_rate: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    """Requests a second with one API key, on average over ten seconds; empty: no limit."""


class RecallSettings(_Group):
    """Defaults of recall."""

    strategy: str = Field(default="ecphoria", min_length=1)
    """Strategy of requests that name none."""
    rerank: bool | None = None
    """Default of `rerank` in requests: have the reader order the first turns. If it is not set,
    the strategy decides."""
    traces_kept: int = Field(default=1_000, ge=0, le=1_000_000)
    """Number of newest traces kept for each tenant."""


class ConsolidationSettings(_Group):
    """Schedule of tenants without their own: light cycles of a quiet tenant, unless set."""

    every_episodes: EpisodeCount | None = None
    """Run after this number of appended episodes; empty: off."""
    every_hours: Hours | None = None
    """Run this number of hours after the last scheduled cycle; empty: off."""
    daily_at: TimeOfDay | None = None
    """Run at this time of each day in UTC, such as `03:30`; empty: off."""
    idle_minutes: Minutes | None = None
    """Run after this number of minutes without an append or a recall, once for new episodes;
    empty: off."""
    light_episodes: int = Field(default=5, ge=0, le=1_000_000_000)
    """Run a light cycle after this number of appended episodes: `expire`, `embed`, `merge`,
    `engrams`, `associate` and `supersede`; 0: off."""
    light_idle_minutes: Minutes = 1.0
    """Minutes without an append or a recall that a light cycle waits for."""

    @property
    def schedule(self) -> Schedule:
        """The same as a schedule."""
        given = self.model_dump()
        if not self.light_episodes:
            given |= {"light_episodes": None, "light_idle_minutes": None}
        return Schedule(**given)


class LlmSettings(_Group):
    """A language model for answers, cues, extraction and summaries; none by default."""

    model: str | None = Field(default=None, min_length=1)
    """Name of the model, as its endpoint knows it; empty: none."""
    base_url: str = OPENAI_URL
    """Address of an endpoint that speaks OpenAI's API, up to and without `/chat/completions`."""
    api_key: SecretStr | None = None
    """Key of the endpoint."""
    timeout_s: Seconds = 60.0
    """Longest wait for one answer in all, in seconds, streamed or not, retries included."""
    retries: int = Field(default=2, ge=0, le=20)
    """Retries after a transient failure."""
    calls_a_minute: int | None = Field(default=None, ge=1, le=1_000_000)
    """Most calls of one process in 60 seconds; a further call waits. Empty: no limit."""
    tokens_a_day: int | None = Field(default=None, ge=1)
    """Most tokens of one process in a day of UTC; then calls are refused until the next day.
    Empty: no limit."""
    record: Annotated[Folder | None, INNER] = None
    """Cassette to which answers are added; an answer that it holds is not asked for again."""
    replay: Annotated[Folder | None, INNER] = None
    """Cassette from which all answers come; the endpoint is not asked."""
    cue_s: Seconds = 3.0
    """Timeout of the reading of a cue, in seconds; after it the recall goes on without."""
    extract: bool = False
    """Whether every consolidation cycle reads new episodes for names and facts; if not, only
    `ecphoria consolidate --step extract` does."""


class JobsSettings(_Group):
    """Background work: jobs wait in Neo4j for `ecphoria serve` and `ecphoria worker`."""

    workers: int = Field(default=1, ge=0, le=64)
    """Jobs that one process runs at once; 0 leaves them to other processes."""
    lease_s: Seconds = 60.0
    """Seconds without a sign of its worker after which another worker may take a job; at least
    twice `ECPHORIA_NEO4J__QUERY_TIMEOUT_S`."""
    poll_s: Annotated[Seconds, INNER] = 1.0
    """Interval of the search for jobs queued by other processes, in seconds."""
    schedule_s: Annotated[Seconds, INNER] = 10.0
    """Interval of the check of schedules, in seconds."""
    attempts: int = Field(default=5, ge=1, le=100)
    """Attempts before a job is dead."""
    pause_s: Annotated[Seconds, INNER] = 5.0
    """Pause after the first failure of a job, in seconds; doubled after each further one."""
    kept: Annotated[int, INNER] = Field(default=100, ge=1, le=10_000)
    """Number of newest ended jobs kept for each tenant."""
    fault: Annotated[str | None, INNER] = None
    """A place of a cycle, as `prior: save episodes`, or the name of a query, at which
    the process kills itself."""


class ErasureSettings(_Group):
    """Marks of erased episodes."""

    key_days: float = Field(default=30.0, ge=0, le=3_650, allow_inf_nan=False)
    """Days for which the idempotency key of an erased episode is refused; only its hash is
    kept."""


class ArchiveSettings(_Group):
    """Place of the archive, which services on one store must share."""

    dir: Folder | None = None
    """Folder of the archive's files; `archive` in the service's home if empty."""
    url: str | None = Field(default=None, pattern=r"^s3://[^/\s?#]+(/[^\s?#]*)?$")
    """Bucket of the archive's files instead, as `s3://BUCKET/PATH`; it needs the extra `bucket`.
    Region, endpoint and credentials come from the variables of AWS, as `AWS_REGION`."""


class LogSettings(_Group):
    """Logging to standard error; memory text and secrets are never logged."""

    level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    """Lowest level to write."""
    format: Literal["auto", "console", "brief", "json"] = "auto"
    """`console` for reading; `brief` is the same without times, ids of requests and the places of
    errors; `json` for collecting; `auto` is `console` on a terminal, else `json`."""


class TracingSettings(_Group):
    """Spans for OpenTelemetry, off by default; they need the extra `otel`."""

    endpoint: str | None = Field(default=None, pattern=r"^https?://")
    """Address of a collector that takes OTLP over HTTP, as `http://127.0.0.1:4318`; empty: no
    spans. Headers it asks for go into `OTEL_EXPORTER_OTLP_HEADERS`."""
    sample: float = Field(default=1.0, ge=0, le=1, allow_inf_nan=False)
    """Share of the requests that are traced. A request that comes with a trace is traced if its
    caller's is."""


class Settings(BaseSettings):
    """Everything an operator may set, in groups."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=DELIMITER,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_default=True,
    )

    home: Folder = Field(default_factory=lambda: platformdirs.user_data_path("ecphoria"))
    """Home folder of this machine: the admin key and the local store."""
    cache: Folder = Field(default_factory=lambda: platformdirs.user_cache_path("ecphoria"))
    """Folder of downloads: the local Neo4j's files, model weights."""
    neo4j: Neo4jSettings = Neo4jSettings()
    engine: EngineGroup = EngineGroup()
    embedder: EmbedderSettings = EmbedderSettings()
    auth: AuthSettings = AuthSettings()
    server: ServerSettings = ServerSettings()
    limits: LimitsSettings = LimitsSettings()
    recall: RecallSettings = RecallSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    llm: LlmSettings = LlmSettings()
    archive: ArchiveSettings = ArchiveSettings()
    erasure: ErasureSettings = ErasureSettings()
    jobs: JobsSettings = JobsSettings()
    log: LogSettings = LogSettings()
    tracing: TracingSettings = TracingSettings()

    @model_validator(mode="after")
    def _open_only_on_loopback(self) -> Self:
        if not self.auth.enabled and not is_loopback(self.server.host):
            raise ValueError(
                "without authentication the service listens on loopback only: leave "
                "ECPHORIA_SERVER__HOST at 127.0.0.1, or ECPHORIA_AUTH__ENABLED at true"
            )
        return self

    @model_validator(mode="after")
    def _one_archive(self) -> Self:
        if self.archive.dir is not None and self.archive.url is not None:
            raise ValueError("set ECPHORIA_ARCHIVE__DIR or ECPHORIA_ARCHIVE__URL, not both")
        return self

    @model_validator(mode="after")
    def _whole_certificate(self) -> Self:
        if (self.server.tls_certificate is None) != (self.server.tls_key is None):
            raise ValueError(
                "TLS needs both ECPHORIA_SERVER__TLS_CERTIFICATE and ECPHORIA_SERVER__TLS_KEY"
            )
        return self


def variables(*, of_tests: bool = False) -> Iterator[tuple[str, type[BaseModel], FieldInfo]]:
    """List every variable with the group and the field it sets, in order.

    With `of_tests`, list those of the inner fields instead.
    """
    prefix = TEST_PREFIX if of_tests else PREFIX
    for name, field in Settings.model_fields.items():
        group = _group_of(field)
        if group is None:
            if not of_tests:
                yield f"{prefix}{name}".upper(), Settings, field
            continue
        for inner, setting in group.model_fields.items():
            if (INNER in setting.metadata) is of_tests:
                yield f"{prefix}{name}{DELIMITER}{inner}".upper(), group, setting


def _group_of(field: FieldInfo) -> type[_Group] | None:
    group = field.annotation
    return group if isinstance(group, type) and issubclass(group, _Group) else None


def _of_tests() -> dict[str, dict[str, str]]:
    """Read the inner fields, by group and name, that the environment of a test sets."""
    found: dict[str, dict[str, str]] = {}
    for variable, _, _ in variables(of_tests=True):
        value = os.environ.get(variable)  # noqa: TID251 (the one place that reads it)
        if value:
            group, inner = variable.removeprefix(TEST_PREFIX).lower().split(DELIMITER)
            found.setdefault(group, {})[inner] = value
    return found


def read_settings(**given: object) -> Settings:
    """Read the environment; `given` groups and values, from the command line, go first.

    Raises:
        Misconfigured: a variable is unknown or its value cannot be used; every one is named.
    """
    known = {name for name, _, _ in variables()}
    wrong = [
        f"{name} is no setting{_nearest(name, known)}"
        for name in sorted(os.environ)  # noqa: TID251 (the one place that reads it)
        if name.upper().startswith(PREFIX)
        and not name.upper().startswith(TEST_PREFIX)
        and name.upper() not in known | CLIENT_VARIABLES
    ]
    if wrong:
        raise Misconfigured("; ".join(wrong) + ".", settings=tuple(wrong))
    for group, values in _of_tests().items():
        more = given.get(group, {})
        given[group] = {**values, **more} if isinstance(more, dict) else more
    try:
        return Settings(**given)  # type: ignore[arg-type]  # checked by pydantic itself
    except ValidationError as invalid:
        wrong = [
            f"{_variable(error['loc'])}: {error['msg'].removeprefix('Value error, ')}"
            for error in invalid.errors(include_input=False, include_url=False)
        ]
        raise Misconfigured("; ".join(wrong) + ".", settings=tuple(wrong)) from None


def _variable(place: tuple[int | str, ...]) -> str:
    return PREFIX + DELIMITER.join(str(part) for part in place).upper() if place else "settings"


def _nearest(name: str, known: set[str]) -> str:
    near = difflib.get_close_matches(name.upper(), known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""
