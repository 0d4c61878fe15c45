"""Who may ask: tokens, hosts, origins; and bodies that are too large or too slow."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from adjudge.errors import ConfigError
from adjudge.serving.server.security import HEADERS, Access
from adjudge.serving.server.settings import ServerSettings
from server_fixtures import asked, listening

CLAIM = {"claim": "The Elbe flows through Dresden."}
TOKEN = "a-token-of-sixteen-or-more"


@pytest.fixture(scope="module")
def local(river_verifier, river_documents, tmp_path_factory):
    with asked(
        river_verifier, river_documents, data_dir=tmp_path_factory.mktemp("data"), max_body=2000
    ) as client:
        yield client


@pytest.fixture
def remote(river_verifier, river_documents, tmp_path):
    """A server that other machines could reach."""
    with asked(
        river_verifier,
        river_documents,
        data_dir=tmp_path,
        host="0.0.0.0",
        token=TOKEN,
        allow_hosts=("facts.example.org",),
    ) as client:
        yield client


@pytest.mark.parametrize("path", ["/v1/corpora", "/openapi.json", "/nowhere", "/healthz"])
def test_every_answer_has_the_security_headers(local, path):
    response = local.get(path)
    for name, value in HEADERS.items():
        assert response.headers[name] == value
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy and "unsafe" not in policy
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8080", 200),
        ("127.0.0.1:9", 200),
        ("127.9.9.9", 200),
        ("[::1]:8080", 200),
        ("LOCALHOST", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("192.168.0.7", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
        ("[::1].evil", 403),
    ],
)
def test_on_loopback_only_loopback_names_are_answered(local, host, status):
    assert local.get("/v1/corpora", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost:9999"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://["}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_pages_of_other_sites_may_not_ask(local, headers, status):
    assert local.post("/v1/verify", json=CLAIM, headers=headers).status_code == status


def test_cors_is_off_unless_an_origin_was_allowed(local, river_verifier, river_documents, tmp_path):
    preflight = {"origin": "https://app.example", "access-control-request-method": "POST"}
    assert local.options("/v1/verify", headers=preflight).status_code == 403
    origins = {"allow_origins": ("https://app.example",)}
    with asked(river_verifier, river_documents, data_dir=tmp_path, **origins) as client:
        response = client.options("/v1/verify", headers=preflight)
        assert response.status_code == 204
        assert response.headers["access-control-allow-origin"] == "https://app.example"
        answer = client.post("/v1/verify", json=CLAIM, headers={"origin": "https://app.example"})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert (
            client.post("/v1/verify", json=CLAIM, headers={"origin": "https://b.example"}).status_code == 403
        )


def test_any_address_but_loopback_demands_a_token(remote):
    assert remote.post("/v1/verify", json=CLAIM).status_code == 401
    assert remote.get("/metrics").status_code == 401
    assert remote.get("/healthz").status_code == 200  # what a load balancer asks
    for wrong in (
        "Bearer nonsense",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        "Bearer",
        TOKEN,
        "Bearer ÿ".encode("latin-1"),
    ):
        assert remote.post("/v1/verify", json=CLAIM, headers={"authorization": wrong}).status_code == 401
    right = {"authorization": f"Bearer {TOKEN}"}
    assert remote.post("/v1/verify", json=CLAIM, headers=right).status_code == 200


def test_the_link_becomes_a_cookie_that_is_not_the_token(remote):
    first = remote.get(f"/v1/corpora?token={TOKEN}&x=1", follow_redirects=False)
    assert first.status_code == 303 and first.headers["location"] == "/v1/corpora?x=1"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and TOKEN not in cookie
    assert remote.get("/v1/corpora").status_code == 200  # the client keeps cookies
    remote.cookies.clear()
    assert remote.get("/v1/corpora?token=wrong", follow_redirects=False).status_code == 401
    assert remote.get("/v1/corpora", headers={"cookie": "adjudge=guess"}).status_code == 401
    assert remote.get("/v1/corpora", headers={"cookie": "\x01;;=;adjudge"}).status_code == 401


def test_the_link_leads_nowhere_else(remote):
    response = remote.get(f"//evil.example/%2e%2e?token={TOKEN}", follow_redirects=False)
    assert response.headers.get("location", "/").startswith("/") and not response.headers.get(
        "location", "/"
    ).startswith("//")


@pytest.mark.parametrize(
    ("host", "status"),
    [("facts.example.org", 200), ("10.0.0.7:8080", 200), ("localhost", 200), ("evil.example", 403)],
)
def test_a_name_that_was_not_allowed_is_refused_even_with_the_token(remote, host, status):
    headers = {"host": host, "authorization": f"Bearer {TOKEN}"}
    assert remote.get("/v1/corpora", headers=headers).status_code == status


def test_a_token_is_made_for_every_address_but_loopback():
    assert Access.of(ServerSettings(host="127.0.0.1")).token is None
    assert Access.of(ServerSettings(host="::1")).token is None
    first, second = (Access.of(ServerSettings(host="0.0.0.0")).token for _ in range(2))
    assert first and second and first != second and len(first) >= 32


def test_a_body_above_the_limit_is_refused_whether_or_not_it_says_its_length(local):
    headers = {"content-type": "application/json"}
    assert local.post("/v1/verify", content=b"x" * 3000, headers=headers).status_code == 413

    def pieces():
        for _ in range(30):
            yield b" " * 100

    response = local.post("/v1/verify", content=pieces(), headers=headers)
    assert response.status_code == 413 and response.json()["error"]["code"] == "too_large"


def test_a_client_that_sends_too_slowly_is_not_waited_for(river_verifier, river_documents, tmp_path):
    with listening(river_verifier, river_documents, data_dir=tmp_path, read_timeout=0.3) as (address, _):
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(
                b"POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\n\r\n{"
            )
            began = time.monotonic()
            answer = connection.recv(4096)
            assert answer.startswith(b"HTTP/1.1 408 ") and time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"allow_origins": ("*",)}, "expected scheme and host"),
        ({"allow_origins": ("app.example",)}, "expected scheme and host"),
        ({"allow_origins": ("https://app.example/page",)}, "expected scheme and host"),
        ({"allow_hosts": ("http://facts.example.org",)}, "expected a host name alone"),
        ({"allow_hosts": ("facts.example.org:8080",)}, "expected a host name alone"),
        ({"token": "sixteen-or-möre-x"}, "signs of ASCII"),
        ({"data_dir": Path(__file__)}, "expected a folder"),
    ],
)
def test_settings_that_could_never_match_are_refused(values, expected):
    with pytest.raises(ConfigError, match=expected):
        ServerSettings(**values)
