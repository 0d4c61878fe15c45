"""Who may ask, and what every answer carries: tokens, Host and Origin, limits on bodies, headers."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adjudge.serving.server.faults import fault_record
from adjudge.serving.server.settings import ServerSettings, is_loopback

COOKIE = "adjudge"
TOKEN_PARAMETER = "token"
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # "no-referrer" would have forms send "Origin: null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""What a load balancer asks, without a token."""
LARGE_PATHS = ("/v1/batch", "/v1/corpora/", "/page/claims")
"""Where a body may be as large as an upload."""
JSON_PATHS = frozenset({"/v1/verify", "/v1/classify", "/v1/search", "/v1/check", "/v1/corpora"})
"""Where a body must say that it is JSON; a form of another site cannot."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def make_token() -> str:
    """A new token."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Access:
    """Who may ask.

    Attributes:
        token: what programs send; None where only this machine can ask.
        hosts: names under which the server may be reached, besides addresses of this machine.
        any_address: whether any IP address will do as a host; a name that another site made to point here will not.
        origins: other sites whose pages may call the API.
    """

    token: str | None
    hosts: frozenset[str] = frozenset()
    any_address: bool = False
    origins: frozenset[str] = frozenset()
    cookie: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        key = (self.token or "").encode()
        object.__setattr__(self, "cookie", hmac.new(key, b"adjudge cookie", hashlib.sha256).hexdigest())

    @classmethod
    def of(cls, settings: ServerSettings) -> Access:
        """The rules of a server: on any address but loopback a token is needed."""
        token = settings.token
        if token is None and not settings.is_loopback:
            token = make_token()
        hosts = {name.lower() for name in settings.allow_hosts}
        if not settings.is_loopback:
            hosts |= {settings.host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
        origins = frozenset(origin.rstrip("/").lower() for origin in settings.allow_origins)
        return cls(token, frozenset(hosts), not settings.is_loopback, origins)

    def takes_host(self, host: str) -> bool:
        """Whether the server may be called so."""
        name = _host_name(host)
        if is_loopback(name) or name in self.hosts:
            return True
        if not self.any_address:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def takes_origin(self, headers: Headers, method: str) -> bool:
        """Whether the page that asks is our own, or one that was allowed."""
        origin = headers.get("origin")
        if origin is None:
            return method in SAFE or headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        if origin.lower() in self.origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:  # "http://[" and the like
            return False
        return parts.scheme in ("http", "https") and parts.netloc.lower() == headers.get("host", "").lower()

    def takes_credentials(self, headers: Headers) -> bool:
        """Whether token or cookie are right; compared in constant time."""
        if self.token is None:
            return True
        scheme, _, value = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _equal(value.strip(), self.token):
            return True
        jar: SimpleCookie = SimpleCookie()
        try:
            jar.load(headers.get("cookie", ""))
        except CookieError:
            return False
        return COOKIE in jar and _equal(jar[COOKIE].value, self.cookie)

    def takes_token(self, value: str) -> bool:
        """Whether a token of a link is right."""
        return self.token is not None and _equal(value, self.token)


class Guard:
    """ASGI middleware that lets in what :class:`Access` allows, limits bodies, and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, access: Access, settings: ServerSettings) -> None:
        self.app = app
        self.access = access
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answered.setdefault(name, value)
                self._allow_origin(headers, answered)
            await send(message)

        if (refusal := self._refusal(scope, headers)) is not None:
            await refusal(scope, receive, send_with_headers)
            return
        limit = self._limit(scope["path"])
        body = _Body(receive, limit, self.settings.read_timeout)
        await self.app(scope, body.receive, send_with_headers)

    def _limit(self, path: str) -> int:
        large = path.startswith(LARGE_PATHS)
        return self.settings.max_upload if large else self.settings.max_body

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request that goes no further; None for one that does."""
        method, path = scope["method"], scope["path"]
        if not self.access.takes_host(headers.get("host", "")):
            return _refuse(
                403,
                "wrong_host",
                "This server is not reached under that host name. If it should be, start it with --allow-host NAME.",
            )
        if not self.access.takes_origin(headers, method):
            return _refuse(403, "wrong_origin", "Pages of other sites may not call this server.")
        if method == "OPTIONS" and "access-control-request-method" in headers:
            return Response(status_code=204)
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        if method == "GET" and TOKEN_PARAMETER in query and self.access.takes_token(query[TOKEN_PARAMETER]):
            return self._welcome(path, query)
        if path not in OPEN_PATHS and not self.access.takes_credentials(headers):
            refusal = _refuse(
                401,
                "token_needed",
                "This server needs its token: open the link that it printed, or send Authorization: Bearer TOKEN.",
            )
            refusal.headers["www-authenticate"] = "Bearer"
            return refusal
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and path in JSON_PATHS and content_type != "application/json":
            return _refuse(
                415,
                "unsupported_media_type",
                f"Content-Type {content_type or 'none'}: expected application/json.",
            )
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._limit(path):
            return _refuse(413, "too_large", f"The request has more than {self._limit(path):,} bytes.")
        return None

    def _welcome(self, path: str, query: dict[str, str]) -> Response:
        """From the link with the token to the page itself, with a cookie."""
        rest = urlencode({name: value for name, value in query.items() if name != TOKEN_PARAMETER})
        target = "/" + path.lstrip("/\\") + (f"?{rest}" if rest else "")
        response = RedirectResponse(target, 303)
        response.set_cookie(COOKIE, self.access.cookie, httponly=True, samesite="lax", max_age=30 * 86400)
        return response

    def _allow_origin(self, headers: Headers, answered: MutableHeaders) -> None:
        origin = headers.get("origin", "")
        if origin.lower() in self.access.origins:
            answered["access-control-allow-origin"] = origin
            answered["access-control-allow-headers"] = "authorization, content-type"
            answered["access-control-allow-methods"] = "GET, POST, PUT, DELETE"
            answered["cross-origin-resource-policy"] = "cross-origin"
            answered.append("vary", "Origin")


class BodyRefused(HTTPException):
    """A body that is too large or too slow."""


class _Body:
    """Passes a request's body on, up to a limit, and only as long as more of it comes."""

    def __init__(self, receive: Receive, limit: int, timeout: float) -> None:
        self._receive = receive
        self._left = limit
        self._limit = limit
        self._timeout = timeout
        self._whole = False

    async def receive(self) -> Message:
        """The next piece of the body; after the last, whatever the server says about the connection."""
        if self._whole:
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._timeout)
        except TimeoutError:
            raise BodyRefused(408, f"No more of the request came in {self._timeout:g} seconds.") from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._left < 0:
                raise BodyRefused(413, f"The request has more than {self._limit:,} bytes.")
        return message


def _refuse(status: int, code: str, message: str) -> Response:
    return Response(msgspec.json.encode(fault_record(code, message)), status, media_type="application/json")


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _host_name(host: str) -> str:
    """The name of a Host header without its port, in small letters."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower().rstrip(".")
