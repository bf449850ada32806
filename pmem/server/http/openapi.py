"""The description of the API in OpenAPI 3.1, put together from the table of endpoints."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from pmem import __version__
from pmem.operations.operation import SCHEMA
from pmem.server.http.endpoints import JSON, Endpoint
from pmem.server.http.event_stream import PATH as EVENTS
from pmem.server.http.guard import HEALTH

_REF: Final = "#/components/schemas/{name}"
_TEXT: Final = {"type": "string"}
_ERROR: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["schema", "error"],
    "properties": {
        "schema": {"const": SCHEMA},
        "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {"code": _TEXT, "message": _TEXT, "hint": _TEXT},
        },
    },
}
_ANSWER: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["schema", "data"],
    "properties": {
        "schema": {"const": SCHEMA},
        "data": {},
        "notes": {"type": "array", "items": _TEXT},
    },
}


def describe(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Return the description of an API."""
    known = list(endpoints)
    bodies = [one.body for one in known if one.body is not None]
    types = [type_ for one in known for several in one.answers.values() for type_ in several]
    asked, closed = msgspec.json.schema_components(bodies, ref_template=_REF)
    found, components = msgspec.json.schema_components(types, ref_template=_REF)
    schemas = dict(zip(map(id, [*types, *bodies]), [*found, *asked], strict=True))
    for schema in closed.values():  # no room for keys that it does not name
        if "properties" in schema:
            schema["additionalProperties"] = False
    paths: dict[str, Any] = {}
    for one in known:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "pmem", "version": __version__, "summary": "Memory for projects"},
        "security": [{"token": []}],
        "paths": {**paths, **_server_paths()},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **components,
                **closed,
                "Error": _ERROR,
                "Answer": _ANSWER,
            },
        },
    }


def _operation(one: Endpoint, schemas: Mapping[int, Any]) -> dict[str, Any]:
    answers = {}
    for status, types in one.answers.items():
        found = [schemas[id(type_)] for type_ in types] or [_reference_to("Answer")]
        schema = found[0] if len(found) == 1 else {"anyOf": found}
        answers[str(status)] = _response(HTTPStatus(status).phrase, schema)
    described: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.says,
        "tags": [one.group],
        "responses": {**answers, "default": _response("An error", _reference_to("Error"))},
    }
    if one.places:
        described["parameters"] = [
            {
                "name": place.name,
                "in": place.where,
                "required": place.where == "path",
                "description": place.says,
                "schema": place.schema,
            }
            for place in one.places
        ]
    if one.body is not None:
        content = {JSON: {"schema": schemas[id(one.body)]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _reference_to(name: str) -> dict[str, str]:
    return {"$ref": _REF.format(name=name)}


def _response(says: str, schema: Any) -> dict[str, Any]:
    return {"description": says, "content": {JSON: {"schema": schema}}}


def _server_paths() -> dict[str, Any]:
    """Return what every server has besides its endpoints."""
    lives = {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}}
    stream = {"text/event-stream": {"schema": _TEXT}}
    return {
        HEALTH: {
            "get": {
                "operationId": "healthz",
                "summary": "Say that the server is there; needs no token",
                "tags": ["server"],
                "security": [],
                "responses": {"200": _response("OK", lives)},
            }
        },
        EVENTS: {
            "get": {
                "operationId": "events_stream",
                "summary": "Tell each change of a record as a server-sent event",
                "tags": ["server"],
                "responses": {
                    "200": {"description": "OK", "content": stream},
                    "default": _response("An error", _reference_to("Error")),
                },
            }
        },
    }
