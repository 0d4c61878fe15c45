"""The reference of the API and the list of experiments: in the frame of the page, nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from server_fixtures import asked

REPORT = "<!doctype html><style>td {color: red}</style><script>document.title = 'ran'</script><p>Δ</p>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two experiments, one with a report, and things that are none."""
    root = tmp_path_factory.mktemp("work") / "runs"
    for run in ("demo/ce-1", "demo/sr-1", "deep/er/x/mll-1"):
        (root / run).mkdir(parents=True)
        (root / run / "config.toml").write_text("")
    (root / "demo" / "ce-1" / "manifest.json").write_text("{}")
    (root / "demo" / "report.html").write_text(REPORT, encoding="utf-8")
    (root / "<script>alert(1)").mkdir()
    (root / "<script>alert(1)" / "report.html").write_text("x")
    (root / "nothing").mkdir()
    (root.parent / "secret").mkdir()
    (root.parent / "secret" / "report.html").write_text("secret")
    (root / "link").symlink_to(root.parent / "secret")
    return root


@pytest.fixture(scope="module")
def client(river_verifier, river_documents, folder, tmp_path_factory):
    with asked(
        river_verifier, river_documents, data_dir=tmp_path_factory.mktemp("d"), runs=(folder,)
    ) as client:
        yield client


class Links(HTMLParser):
    """The addresses that a page loads or links to, and its ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.scripts: list[str] = []
        self.current: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes) -> None:
        self.tags.add(tag)
        if tag == "script":
            self.scripts.append(dict(attributes).get("src", "inline"))
        if ("aria-current", "page") in attributes:
            self.current.append(dict(attributes)["href"])
        for name, value in attributes:
            assert not name.startswith("on") and name != "style"
            if name in ("href", "src"):
                self.addresses.append(value)
            if name == "id":
                self.ids.append(value)


def header_of(text: str) -> str:
    """The header of a page, whichever page it says it is."""
    return text[text.index("<header") : text.index("</header>")].replace(' aria-current="page"', "")


@pytest.mark.parametrize("path", ["/docs", "/runs"])
def test_the_header_is_that_of_the_page_and_says_where_one_is(client, path):
    text = client.get(path).text
    assert header_of(text) == header_of(client.get("/").text)
    assert Links(text).current == [path]


def test_the_reference_describes_every_operation_without_script_or_other_hosts(client):
    text = client.get("/docs").text
    page = Links(text)
    assert page.scripts == ["/static/theme.js"] and "style" not in page.tags  # which changes only the theme
    assert all(re.match(r"[/#]", address) for address in page.addresses)
    linked = {address[1:] for address in page.addresses if address.startswith("#")}
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method in methods:
            assert f"{method.upper()}{path}" in linked
    assert linked <= set(page.ids)
    assert "curl http://localhost/v1/verify" in text
    style = client.get("/docs/reference.css")
    assert style.headers["content-type"].startswith("text/css") and "url(" not in style.text
    assert client.get("/docs/app.py").status_code == 404


def test_experiments_are_listed_with_their_runs(client, folder):
    listed = {e["name"]: e for e in client.get("/v1/runs").json()["experiments"]}
    assert set(listed) == {str(folder / "demo"), str(folder / "deep/er/x"), str(folder / "<script>alert(1)")}
    demo = listed[str(folder / "demo")]
    assert (demo["runs"], demo["finished"], demo["report"]) == (2, 1, True)
    text = client.get("/runs").text
    assert (
        Links(text).scripts == ["/static/theme.js"]
        and "<script>" not in text
        and "&lt;script&gt;alert(1)" in text
    )
    assert all(re.match(r"[/#]", address) for address in Links(text).addresses)


def test_a_report_is_shown_with_no_rights(client, folder):
    response = client.get("/runs/report", params={"name": str(folder / "demo")})
    assert response.text == REPORT
    policy = response.headers["content-security-policy"]
    assert policy.startswith("sandbox") and "allow-scripts" not in policy and "default-src 'none'" in policy


@pytest.mark.parametrize(
    "name",
    ["nothing", "/etc", "../secret", "{folder}/../secret", "{folder}/link", "{folder}/demo/ce-1", "", "\0"],
)
def test_only_what_is_listed_is_shown(client, folder, name):
    response = client.get("/runs/report", params={"name": name.replace("{folder}", str(folder))})
    assert response.status_code == 404 and "secret" not in response.text.replace("../secret", "")
