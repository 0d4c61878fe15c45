"""The command that serves verification over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.options import field_option, takes
from adjudge.serving.server.settings import ServerSettings
from adjudge.serving.settings import VerifierSettings


@takes(VerifierSettings, "model", "selector", "k", "candidates", "min_confidence", "device", "precision")
def serve(
    *,
    corpus: Annotated[list[Path] | None, field_option(ServerSettings, "corpora", "--corpus")] = None,
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
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve verification over HTTP: a page for people, an API for programs (extra `serve`).

    On this machine's own address nobody else can ask, and no token is needed; on any other address one is, which the
    link that is printed carries. Interrupt it to stop: what is under way is finished.

    **Examples**

    `adjudge serve --corpus documents/`

    `adjudge serve --corpus wiki --corpus contracts/ --model large --host 0.0.0.0 --allow-host facts.example.org`
    """
    from adjudge.errors import ConfigError, MissingExtra

    try:
        from adjudge.serving.server.run import serve as run_server
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("adjudge"):
            raise
        raise MissingExtra("The server needs FastAPI", "serve") from None
    paths = tuple(corpus or ())
    for path in paths:
        if not path.exists():
            raise ConfigError(f"{path}: no such index, folder or file.")
    server = ServerSettings(
        verifier=settings,
        corpora=paths,
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

    run_server(server, announce)


def _read_token(path: Path) -> str:
    from adjudge.errors import ConfigError

    lines = path.read_text("utf-8").splitlines()
    if not lines or len(lines[0].strip()) < 16:
        raise ConfigError(f"{path}: expected a token of 16 characters or more on the first line.")
    return lines[0].strip()
