"""The API does what its OpenAPI description says, whatever is sent (schemathesis)."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import positive_data_acceptance

from adjudge.serving.server.app import create_app
from adjudge.serving.server.settings import ServerSettings
from server_fixtures import listening

EXAMPLES = 20
EXCLUDED = {
    "POST /v1/classify": (positive_data_acceptance,),  # how many sentences are read depends on the model
    "GET /readyz": (not_a_server_error,),  # 503 is its answer while a corpus of another test is being indexed
}


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """A batch as it is sent."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def operations():
    """Every operation of the description."""
    app = create_app(ServerSettings())
    app.state.engine.close()
    schema = schemathesis.openapi.from_dict(app.openapi())
    return {result.ok().label: result.ok() for result in schema.get_all_operations()}


OPERATIONS = operations()


@pytest.fixture(scope="module")
def address(river_verifier, river_documents, tmp_path_factory):
    """A server whose corpora may be filled and emptied."""
    data = tmp_path_factory.mktemp("data")
    with listening(river_verifier, river_documents, data_dir=data, runs=(data,)) as (address, _):
        yield address


@pytest.mark.parametrize("label", OPERATIONS)
def test_answers_are_as_described(label, address):
    @given(case=OPERATIONS[label].as_strategy())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    def ask(case):
        case.call_and_validate(base_url=address, excluded_checks=EXCLUDED.get(label, ()))

    ask()
