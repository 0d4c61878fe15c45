"""Pages that work without script and need nothing from elsewhere: the API's reference, the list of experiments.

Their frame, with header and footer, is that of the page.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from adjudge import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

router = APIRouter(include_in_schema=False)
ASSETS = "adjudge.serving.server"
PAGE = "adjudge.serving.page"
STATIC = "/static"
_FILES = {"reference.css": "text/css"}


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of the package; all that is put in is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=ChoiceLoader([PackageLoader(ASSETS, "assets"), PackageLoader(PAGE, "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(static=STATIC, version=__version__)
    return templates


def render_page(request: Request, name: str, view: str, **values: Any) -> Response:
    """A template in the frame of the page; ``view`` says which link of the header is this one."""
    model = {"name": request.app.state.settings.verifier.model}
    return HTMLResponse(environment().get_template(name).render(view=view, model=model, **values))


@router.get("/docs")
async def show_reference(request: Request) -> Response:
    """The API's reference, made of its OpenAPI description."""
    description = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            entry = _entry(
                method, path, operation, description, f"{request.url.scheme}://{request.url.netloc}"
            )
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(entry)
    return render_page(request, "reference.html", "docs", groups=groups)


@router.get("/docs/{name}")
async def show_file(name: str) -> Response:
    """The style of these pages."""
    if name not in _FILES:
        return Response(status_code=404)
    content = (resources.files(ASSETS) / "assets" / name).read_bytes()
    return Response(content, media_type=_FILES[name], headers={"cache-control": "max-age=3600"})


def _entry(
    method: str, path: str, operation: dict[str, Any], description: dict[str, Any], address: str
) -> dict[str, Any]:
    """An operation as the page shows it."""
    content: dict[str, dict[str, Any]] = operation.get("requestBody", {}).get("content", {})
    content_type = next(iter(content), "")
    body = content.get(content_type, {})
    schema = _resolve(body.get("schema", {}), description)
    example = body.get("example") or next(iter(schema.get("examples", ())), None)
    return {
        "method": method.upper(),
        "path": path,
        "summary": operation.get("summary", ""),
        "description": operation.get("description", ""),
        "parameters": [
            (p["name"], p["in"], _kind(p["schema"]), p.get("description", ""))
            for p in operation.get("parameters", ())
        ],
        "content_type": content_type,
        "fields": [
            (name, _kind(field), name in schema.get("required", ()), field.get("description", ""))
            for name, field in schema.get("properties", {}).items()
        ],
        "command": _command(method, path, content_type, example, address),
        "responses": [(status, answer["description"]) for status, answer in operation["responses"].items()],
        "answer": _answer_example(operation, description),
    }


def _resolve(schema: dict[str, Any], description: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rsplit("/", 1)[-1]
    resolved: dict[str, Any] = description["components"]["schemas"][name]
    return resolved


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a word or two."""
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _command(method: str, path: str, content_type: str, example: Any, address: str) -> str:
    """What to type in a shell to try it."""
    parts = ["curl", *(["-X", method.upper()] if method not in ("get", "post") else []), f"{address}{path}"]
    if content_type:
        if content_type == "multipart/form-data":
            parts += ["-F", "files=@FILE"]
        elif example is None:
            parts += ["--data-binary", "@FILE"]
        else:
            text = example if isinstance(example, str) else json.dumps(example, ensure_ascii=False)
            parts += [
                "-H",
                f"'content-type: {content_type}'",
                "--data-binary",
                "'" + text.replace("'", "'\\''") + "'",
            ]
    return " ".join(parts)


def _answer_example(operation: dict[str, Any], description: dict[str, Any]) -> str:
    """The example of a good answer, if its schema has one."""
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            body = answer.get("content", {}).get("application/json", {})
            examples = _resolve(body.get("schema", {}), description).get("examples", ())
            return json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else ""
    return ""
