from __future__ import annotations

import gzip
import io
import os
import shutil
import threading
from pathlib import Path

import pytest

from adjudge import Verifier
from adjudge.retrieval import build_index
from adjudge.serving.server.corpora import Corpora, check_document, check_name, free_name
from adjudge.serving.server.corpus import Corpus, stamp_of
from adjudge.serving.server.faults import Fault, NotFound
from server_fixtures import asked, wait_until, write_rivers

CLAIM = "The Danube flows through Vienna."


def search(client, corpus=None, claim=CLAIM) -> list[str]:
    body = {"claim": claim, "k": 3} | ({"corpus": corpus} if corpus else {})
    return [e["text"] for e in client.post("/v1/search", json=body).json()["evidence"]]


def state(client, name) -> dict:
    return client.get(f"/v1/corpora/{name}").json()


def test_a_folder_that_changes_on_disk_is_noticed(river_verifier, tmp_path):
    folder = write_rivers(tmp_path / "rivers")
    with asked(river_verifier, folder, data_dir=tmp_path / "data") as client:
        assert CLAIM not in search(client)
        (folder / "danube.txt").write_text(f"{CLAIM} It is blue.")
        wait_until(lambda: CLAIM in search(client))
        (folder / "danube.txt").unlink()
        wait_until(lambda: CLAIM not in search(client))


def test_an_index_that_is_built_anew_is_noticed(river_verifier, tmp_path):
    folder, index = write_rivers(tmp_path / "rivers"), tmp_path / "index"
    build_index([folder], index)
    with asked(river_verifier, index, data_dir=tmp_path / "data") as client:
        assert CLAIM not in search(client)
        (folder / "danube.txt").write_text(CLAIM)
        build_index([folder], index)
        wait_until(lambda: CLAIM in search(client))


def test_a_corpus_is_made_filled_and_removed_over_http(river_verifier, tmp_path):
    data = tmp_path / "data"
    with asked(river_verifier, data_dir=data) as client:
        assert client.post("/v1/search", json={"claim": CLAIM}).status_code == 404
        assert client.post("/v1/corpora", json={"name": "uploads"}).status_code == 201
        assert client.post("/v1/corpora", json={"name": "Uploads"}).status_code == 409
        wait_until(lambda: state(client, "uploads")["state"] == "ready")
        empty = client.post("/v1/verify", json={"claim": CLAIM, "corpus": "uploads"}).json()
        assert empty["label"] is None and empty["reason"] == "the corpus is empty"

        put = client.put("/v1/corpora/uploads/documents/danube.txt", content=CLAIM.encode())
        assert put.status_code == 202 and put.json()["state"] in ("indexing", "ready")
        files = [("files", ("elbe.md", io.BytesIO(b"# Elbe\n\nThe Elbe is long."), "text/markdown"))]
        assert client.post("/v1/corpora/uploads/documents", files=files).status_code == 202
        wait_until(lambda: state(client, "uploads")["documents"] == 2)
        assert search(client, "uploads") == [CLAIM]
        listed = client.get("/v1/corpora/uploads/documents").json()
        assert [d["name"] for d in listed["documents"]] == ["danube.txt", "elbe.md"] and listed["total"] == 2
        page = client.post("/v1/search", json={"claim": CLAIM}).json()["evidence"][0]["page"]
        shown = client.get("/v1/corpora/uploads/pages", params={"page": page}).json()
        assert [s["text"] for s in shown["sentences"]] == [CLAIM]

        assert client.delete("/v1/corpora/uploads/documents/danube.txt").status_code == 202
        wait_until(lambda: state(client, "uploads")["documents"] == 1)
        assert client.delete("/v1/corpora/uploads/documents/danube.txt").status_code == 404
        assert (data / "uploads" / "elbe.md").exists()
        assert client.delete("/v1/corpora/uploads").status_code == 204
        assert client.get("/v1/corpora/uploads").status_code == 404
        assert not (data / "uploads").exists()


def test_a_packed_document_is_kept_as_it_was_sent(river_verifier, tmp_path):
    packed = gzip.compress(b'{"id": "danube", "text": "The Danube flows through Vienna."}\n')
    with asked(river_verifier, data_dir=tmp_path) as client:
        client.post("/v1/corpora", json={"name": "uploads"})
        assert client.put("/v1/corpora/uploads/documents/d.jsonl.gz", content=packed).status_code == 202
        assert (tmp_path / "uploads" / "d.jsonl.gz").read_bytes() == packed
        wait_until(lambda: state(client, "uploads")["documents"] == 1)
        assert search(client, "uploads") == [CLAIM]


def test_uploaded_corpora_are_there_again_after_a_restart(river_verifier, tmp_path):
    write_rivers(tmp_path / "data" / "kept")
    with asked(river_verifier, data_dir=tmp_path / "data") as client:
        assert [c["name"] for c in client.get("/v1/corpora").json()["corpora"]] == ["kept"]
        assert search(client, claim="The Elbe flows through Dresden.")


def test_a_corpus_given_by_path_is_not_changed_over_http(river_verifier, tmp_path):
    folder = write_rivers(tmp_path / "rivers")
    with asked(river_verifier, folder, data_dir=tmp_path / "data") as client:
        assert client.put("/v1/corpora/rivers/documents/a.txt", content=b"x").status_code == 409
        assert client.delete("/v1/corpora/rivers/documents/elbe.txt").status_code == 409
        assert client.delete("/v1/corpora/rivers").status_code == 409
        assert {p.name for p in folder.iterdir() if not p.name.startswith(".")} == {"elbe.txt", "rhine.txt"}


def test_documents_that_cannot_be_read_are_named(river_verifier, tmp_path):
    folder = write_rivers(tmp_path / "rivers")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    with asked(river_verifier, folder, data_dir=tmp_path / "data") as client:
        record = state(client, "rivers")
        assert record["state"] == "ready" and any("bad.pdf" in p for p in record["problems"])
        assert str(tmp_path) not in str(record)


def test_a_corpus_that_cannot_be_opened_fails_alone(river_verifier, tmp_path):
    folder, bad = write_rivers(tmp_path / "rivers"), tmp_path / "bad"
    bad.mkdir()
    (bad / "manifest.json").write_text('{"format": "adjudge index", "version": -1}')
    (bad / ".lock").touch()
    with asked(river_verifier, folder, bad, data_dir=tmp_path / "data") as client:
        assert search(client, "rivers", "The Elbe flows through Dresden.")
        assert state(client, "bad")["state"] == "failed"
        answer = client.post("/v1/verify", json={"claim": CLAIM, "corpus": "bad"})
        assert answer.status_code == 422 and "cannot be opened" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "a b",
        ".hidden",
        "-x",
        "x" * 65,
        "ä",
        "a\0",
        "con:",
        "%2e%2e",
        "a\n",
    ],
)
def test_names_of_corpora_that_could_lead_elsewhere_are_refused(name, river_verifier, tmp_path):
    with pytest.raises(Fault, match="Corpus name"):
        check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "../x.txt",
        "a/b.txt",
        "a\\b.txt",
        ".x.txt",
        "x.exe",
        "x",
        "a\0.txt",
        "a\n.txt",
        "x" * 250 + ".txt",
        "/etc/x.txt",
    ],
)
def test_names_of_documents_that_could_lead_elsewhere_are_refused(name):
    with pytest.raises(Fault, match="Document"):
        check_document(name)


def test_traversal_over_http_writes_nothing_outside(river_verifier, tmp_path):
    data = tmp_path / "inside" / "data"
    with asked(river_verifier, data_dir=data) as client:
        client.post("/v1/corpora", json={"name": "c"})
        for path in ("..%2f..%2fx.txt", "%2e%2e%2fx.txt", "..%5cx.txt", "%2fetc%2fx.txt"):
            assert client.put(f"/v1/corpora/c/documents/{path}", content=b"x").status_code in (404, 405, 422)
        assert client.put("/v1/corpora/..%2f..%2fc/documents/x.txt", content=b"x").status_code in (404, 405)
        files = [("files", ("../../x.txt", io.BytesIO(b"x"), "text/plain"))]
        assert client.post("/v1/corpora/c/documents", files=files).status_code in (202, 422)
    written = {p.relative_to(tmp_path) for p in tmp_path.rglob("x.txt")}
    assert written <= {Path("inside/data/c/x.txt")}


def test_script_in_names_titles_and_documents_stays_data(river_verifier, tmp_path):
    script = "<script>alert(1)</script>"
    with asked(river_verifier, data_dir=tmp_path / "data") as client:
        client.post("/v1/corpora", json={"name": "c"})
        for name in ("<img src=x onerror=alert(1)>.md", "elbe.html"):
            text = (
                f"# {script}\n\nThe Elbe {script} flows."
                if name.endswith("md")
                else f"<h1>{script}</h1><p>Elbe.</p>"
            )
            quoted = name.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
            assert client.put(f"/v1/corpora/c/documents/{quoted}", content=text.encode()).status_code == 202
        wait_until(lambda: state(client, "c")["documents"] == 2)
        answer = client.post("/v1/search", json={"claim": "Elbe"})
        assert answer.headers["content-type"] == "application/json" and len(answer.json()["evidence"]) == 2
        listed = client.get("/v1/corpora/c/documents").json()["documents"]
        assert [d["name"] for d in listed] == ["<img src=x onerror=alert(1)>.md", "elbe.html"]


def test_an_upload_that_is_too_large_leaves_nothing(river_verifier, tmp_path):
    with asked(river_verifier, data_dir=tmp_path / "data", max_upload=2000) as client:
        client.post("/v1/corpora", json={"name": "c"})
        wait_until(lambda: state(client, "c")["state"] == "ready")
        assert client.put("/v1/corpora/c/documents/big.txt", content=b"x" * 3000).status_code == 413
        assert [p.name for p in (tmp_path / "data" / "c").iterdir() if not p.name.startswith(".")] == []


def test_corpora_are_called_like_their_folders_and_none_twice(tmp_path):
    names: dict[str, object] = {}
    for path in ("a/docs", "b/docs", "b/my notes.txt", "b/…"):
        name = free_name(tmp_path / path, names)  # type: ignore[arg-type]
        names[name] = None
    assert list(names) == ["docs", "docs-2", "my-notes", "corpus"]


def test_the_stamp_changes_with_content_and_not_by_looking(tmp_path):
    folder = write_rivers(tmp_path / "rivers")
    before = stamp_of(folder)
    assert stamp_of(folder) == before
    os.utime(folder / "elbe.txt", ns=(1, 1))
    changed = stamp_of(folder)
    assert changed != before
    shutil.move(folder / "elbe.txt", folder / "oder.txt")
    assert stamp_of(folder) != changed
    (folder / ".hidden").write_text("x")
    assert stamp_of(folder) == stamp_of(folder)


def test_vectors_of_an_uploaded_corpus_are_made_and_progress_is_shown(tmp_path, untrained_run):
    verifier = Verifier.load(untrained_run, k=3)  # searches by meaning
    with asked(verifier, data_dir=tmp_path / "data") as client:
        client.post("/v1/corpora", json={"name": "c"})
        client.put("/v1/corpora/c/documents/danube.txt", content=CLAIM.encode())
        wait_until(lambda: state(client, "c")["documents"] == 1)
        assert client.app.state.engine.library.get("c").index.vectors is not None
        assert search(client, "c", "A river runs through a capital.") == [CLAIM]


def test_what_a_killed_server_left_is_removed_at_the_next_start(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a.txt").write_text(CLAIM)
    (tmp_path / "kept" / ".b.txt.0a1b2c3d.tmp").touch()
    (tmp_path / ".old.0a1b2c3d.tmp" / "old").mkdir(parents=True)
    library = Corpora((), tmp_path, lambda *_: (None, None), refresh=1.0)
    assert [corpus.name for corpus in library] == ["kept"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.txt", "kept"]


def test_a_corpus_that_is_removed_while_a_document_comes_stays_removed(tmp_path):
    class Stream(io.BytesIO):
        def read(self, size=-1):
            if (tmp_path / "uploads").exists():
                library.delete("uploads")
            return super().read(size)

    library = Corpora((), tmp_path, lambda *_: (None, None), refresh=1.0)
    library.create("uploads")
    with pytest.raises(NotFound, match=r"deleted before 'a\.txt'"):
        library.add_document("uploads", "a.txt", Stream(b"It came late."), 100)
    assert not list(tmp_path.iterdir())


def test_a_form_with_a_bad_name_adds_nothing(river_verifier, tmp_path):
    with asked(river_verifier, data_dir=tmp_path) as client:
        client.post("/v1/corpora", json={"name": "c"})
        for bad in ("b.exe", "a.txt"):
            files = [("files", (name, io.BytesIO(b"It is."), "text/plain")) for name in ("a.txt", bad)]
            assert client.post("/v1/corpora/c/documents", files=files).status_code == 422
        assert not (tmp_path / "c" / "a.txt").exists()


def test_a_server_stays_ready_while_a_new_corpus_is_indexed(tmp_path):
    indexing = threading.Event()
    library = Corpora(
        (tmp_path / "given",), tmp_path / "data", lambda *_: (None, indexing.wait(30)), refresh=0.05
    )
    assert not library.are_open
    indexing.set()
    library.start()
    wait_until(lambda: library.are_open)
    indexing.clear()
    library.create("uploads")
    assert library.get("uploads").state == "loading" and library.are_open
    indexing.set()
    library.close()


def test_an_error_of_one_corpus_is_logged_and_the_others_go_on(tmp_path, caplog):
    def index(path, progress, report):
        if path.name == "bad":
            raise TypeError(f"{path}/x: nobody thought of it")
        return None, None

    library = Corpora((tmp_path / "bad", tmp_path / "good"), tmp_path / "data", index, refresh=0.05)
    with caplog.at_level("ERROR", logger="adjudge.server"):
        library.start()
        wait_until(lambda: library.get("good").state == "ready")
        library.close()
    assert library.get("bad").problem == "TypeError: bad/x: nobody thought of it"
    assert [record.fields["corpus"] for record in caplog.records] == ["bad"]


def test_a_corpus_whose_folder_is_gone_answers_no_more(river_verifier, tmp_path):
    folder = write_rivers(tmp_path / "rivers")
    with asked(river_verifier, folder, data_dir=tmp_path / "data") as client:
        assert search(client)
        shutil.rmtree(folder)
        wait_until(lambda: state(client, "rivers")["state"] == "failed")
        answer = client.post("/v1/verify", json={"claim": CLAIM})
        assert answer.status_code == 422 and "rivers: no such" in answer.json()["error"]["message"]
        write_rivers(folder)
        wait_until(lambda: state(client, "rivers")["state"] == "ready")
        assert search(client)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("here", "{cwd}/here/a.pdf: is bad. Nothing here.", "here/a.pdf: is bad. Nothing here."),
        ("docs", "docs: none of its docs. {cwd}/docs/a.pdf: bad", "c: none of its docs. c/a.pdf: bad"),
        (".", "Not read. '{cwd}' and {cwd}. See {cwd}", "Not read. 'c' and c. See c"),
        ("docs", "{cwd}/documents/docs/a.txt: bad", "{cwd}/documents/docs/a.txt: bad"),
    ],
)
def test_problems_name_the_corpus_and_not_its_path(path, text, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus = Corpus("here" if path == "here" else "c", Path(path))
    assert corpus.without_path(text.format(cwd=tmp_path)) == expected.format(cwd=tmp_path)


def test_sources_of_a_linked_folder_are_told_from_that_folder(tmp_path):
    (tmp_path / "real" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    source = str(tmp_path / "real" / "below" / "a.txt")
    assert Corpus("c", tmp_path / "link").relative(source) == os.path.join("below", "a.txt")


def test_links_that_lead_round_are_not_followed(tmp_path):
    folder = write_rivers(tmp_path / "rivers")
    for name in ("a", "b", "c"):
        (folder / name).symlink_to(folder)
    assert stamp_of(folder) == stamp_of(folder)
    (tmp_path / "link").symlink_to(folder)
    before = stamp_of(tmp_path / "link")
    (folder / "elbe.txt").write_text("It is long.")
    assert stamp_of(tmp_path / "link") != before


def test_a_corpus_that_is_removed_while_it_is_indexed_stays_removed(tmp_path):
    indexing, removed = threading.Event(), threading.Event()

    def index(path, progress, report):
        indexing.set()
        removed.wait(30)
        (path / ".adjudge-index").mkdir(parents=True)  # as a build does that goes on
        return None, None

    library = Corpora((), tmp_path, index, refresh=0.05)
    library.create("uploads")
    library.start()
    indexing.wait(30)
    library.delete("uploads")
    assert not (tmp_path / "uploads").exists()
    removed.set()
    wait_until(lambda: not list(tmp_path.iterdir()))
    library.close()
    assert not list(tmp_path.iterdir())


def test_a_corpus_is_ready_only_when_the_last_upload_is_indexed(tmp_path, monkeypatch):
    documents: list[list[str]] = []
    states: list[str] = []
    open_corpus = Corpora._open

    def open_and_note(library, corpus):
        open_corpus(library, corpus)
        states.append(corpus.state)

    def index(path, progress, report):
        documents.append(sorted(file.name for file in path.glob("*.txt")))
        if len(documents) == 1:
            library.add_document("uploads", "late.txt", io.BytesIO(b"It came later."), 100)
        return None, None

    monkeypatch.setattr(Corpora, "_open", open_and_note)
    library = Corpora((), tmp_path, index, refresh=60.0)
    library.create("uploads")
    library.start()
    wait_until(lambda: len(states) == 2)
    library.close()
    assert documents == [[], ["late.txt"]] and states == ["indexing", "ready"]
