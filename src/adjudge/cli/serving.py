"""The commands that serve verification: over HTTP, and to agents."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import NO_CORPUS, RayOption, field_option, takes
from adjudge.serving.server.settings import ServerSettings
from adjudge.serving.settings import VerifierSettings

if TYPE_CHECKING:
    from adjudge.serving.server.app import Part

VERIFIER_OPTIONS = ("model", "selector", "k", "candidates", "min_confidence", "device", "precision")
CorporaOption = Annotated[list[Path] | None, field_option(ServerSettings, "corpora", "--corpus")]


@takes(VerifierSettings, *VERIFIER_OPTIONS)
def serve(
    *,
    corpus: CorporaOption = None,
    settings: VerifierSettings,
    host: Annotated[str, field_option(ServerSettings, "host")] = "127.0.0.1",
    port: Annotated[int, field_option(ServerSettings, "port")] = 8080,
    token_file: Annotated[
        Path | None,
        typer.Option(help="A file whose first line is the token; by default one is made at every start."),
    ] = None,
    data_dir: Annotated[Path | None, field_option(ServerSettings, "data_dir")] = None,
    runs: Annotated[list[Path] | None, field_option(ServerSettings, "runs")] = None,
    allow_host: Annotated[
        list[str] | None, field_option(ServerSettings, "allow_hosts", "--allow-host")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, field_option(ServerSettings, "allow_origins", "--allow-origin")
    ] = None,
    queue_size: Annotated[int, field_option(ServerSettings, "queue_size")] = 256,
    timeout: Annotated[float, field_option(ServerSettings, "timeout")] = 60.0,
    log_texts: Annotated[bool, field_option(ServerSettings, "log_texts")] = False,
    ray: RayOption = None,
    replicas: Annotated[int, typer.Option(min=1, help="With --ray: how many processes serve.")] = 2,
    cpus_per_replica: Annotated[
        int, typer.Option(min=1, help="With --ray: CPUs of a replica, and its threads.")
    ] = 1,
    gpus_per_replica: Annotated[float, typer.Option(min=0, help="With --ray: GPUs of a replica.")] = 0.0,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve verification over HTTP: a page for people, an API for programs (extra `serve`).

    On this machine's own address nobody else can ask, and no token is needed; on any other address one is, which the
    link that is printed carries. Interrupt it to stop: what is under way is finished.

    **Examples**

    `adjudge serve --corpus documents/`

    `adjudge serve --corpus /shared/wiki --ray auto --replicas 4`

    `adjudge serve --corpus wiki --corpus contracts/ --model large --host 0.0.0.0 --allow-host facts.example.org`
    """
    from adjudge.errors import MissingExtra

    try:
        from adjudge.serving.server.run import serve as run_server
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("adjudge"):
            raise
        raise MissingExtra("The server needs FastAPI", "serve") from None
    server = ServerSettings(
        verifier=settings,
        corpora=_existing(corpus),
        host=host,
        port=port,
        token=None if token_file is None else _read_token(token_file),
        data_dir=data_dir,
        runs=tuple(runs or (Path("runs"),)),
        allow_hosts=tuple(allow_host or ()),
        allow_origins=tuple(allow_origin or ()),
        queue_size=queue_size,
        timeout=timeout,
        log_texts=log_texts,
    )

    def announce(address: str) -> None:
        typer.echo(address)
        if open_page:
            typer.launch(address)

    if ray is None:
        run_server(server, announce, parts=_parts())
    else:
        _serve_on(ray, server, announce, replicas, cpus_per_replica, gpus_per_replica)


def _serve_on(
    address: str,
    settings: ServerSettings,
    announce: Callable[[str], None],
    replicas: int,
    cpus: int,
    gpus: float,
) -> None:
    """Serve on a cluster until interrupted."""
    import threading

    from adjudge.cluster.connection import WorkerResources
    from adjudge.cluster.serve import serve_on
    from adjudge.serving.server.run import link

    with serve_on(address, settings, replicas, WorkerResources(cpus, gpus)) as access:
        announce(link(settings.host, settings.port, access))
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


@takes(VerifierSettings, *VERIFIER_OPTIONS)
def mcp(*, corpus: CorporaOption = None, settings: VerifierSettings) -> None:
    """Give agents the tools verify_claim, check_text and search_evidence, over standard input and output (extra `mcp`).

    An agent's program starts this command by itself: name it in the program's settings. `adjudge serve` answers the
    same protocol at /mcp.

    **Examples**

    `adjudge mcp --corpus documents/`

    `adjudge mcp --corpus wiki --corpus contracts/ --model large`
    """
    from adjudge.errors import ConfigError
    from adjudge.integrations.mcp import mcp_server
    from adjudge.serving.server.engine import Engine

    if not corpus:
        raise ConfigError(NO_CORPUS)
    engine = Engine(ServerSettings(verifier=settings, corpora=_existing(corpus)))
    mcp_server(engine, starts=True).run("stdio")


def _existing(corpora: list[Path] | None) -> tuple[Path, ...]:
    from adjudge.errors import ConfigError

    for path in corpora or ():
        if not path.exists():
            raise ConfigError(f"{path}: no such index, folder or file.")
    return tuple(corpora or ())


def _parts() -> list[Part]:
    """What is mounted beside the API: MCP, where its extra is installed."""
    from adjudge.errors import MissingExtra

    try:
        from adjudge.integrations.mcp import mount
    except MissingExtra:
        return []
    return [mount]


def _read_token(path: Path) -> str:
    from adjudge.errors import ConfigError

    lines = path.read_bytes().splitlines()
    token = lines[0].strip().decode("ascii", "replace") if lines else ""
    if not re.fullmatch(r"[!-~]{16,}", token):
        raise ConfigError(
            f"{path}: expected a token on the first line: 16 or more letters, digits and signs of ASCII, no spaces."
        )
    return token
