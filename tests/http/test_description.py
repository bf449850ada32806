"""What the description of the API promises holds for whatever is asked: tried by schemathesis.

`tests/faults/serving.py` tries all of it in all phases, with a server that listens.
"""

import json
from functools import cache
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from pmem import Project
from pmem.server.http.application import all_endpoints
from pmem.server.http.openapi import describe
from tests.effort import examples
from tests.http.serving import Asked, Served

CHECKS: Final[list[Any]] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
ADDRESS: Final = "http://127.0.0.1:7636"
ENDPOINTS: Final = {f"{one.method} {one.path}": one for one in all_endpoints()}


@cache
def _read_description() -> Any:
    return schemathesis.openapi.from_dict(describe(ENDPOINTS.values()))


@pytest.mark.some(3)
@pytest.mark.parametrize("label", list(ENDPOINTS))
def test_an_endpoint_answers_as_it_is_described(label: str, root: str) -> None:
    Project(root).add("The queue is RabbitMQ.")
    served = Served(root)
    headers = {"Host": "localhost", **served.headers()}
    schema = _read_description()
    schema.app = served.server.application
    method, path = label.split()
    operation = schema[path][method]
    modes = st.sampled_from(GenerationMode)

    @settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
    @given(case=modes.flatmap(operation.as_strategy))
    def answers(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    answers()


def test_the_server_gives_this_description(ask: Asked) -> None:
    described = json.loads(json.dumps(describe(ENDPOINTS.values())))
    assert ask("GET", "/openapi.json").json() == described


def test_every_endpoint_has_a_name_of_its_own_and_says_what_it_does() -> None:
    names = [one.name for one in ENDPOINTS.values()]
    assert len(set(names)) == len(names)
    assert all(one.says for one in ENDPOINTS.values())


def test_the_description_refers_to_nothing_that_is_not_there() -> None:
    described = describe(ENDPOINTS.values())
    known = {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    assert references(described) <= known


def test_no_body_has_room_for_keys_that_it_does_not_name() -> None:
    schemas = describe(ENDPOINTS.values())["components"]["schemas"]
    for one in ENDPOINTS.values():
        if one.body is not None:
            assert schemas[one.body.__name__]["additionalProperties"] is False, one.name


def references(value: Any) -> set[str]:
    """Return all that a document refers to."""
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()
