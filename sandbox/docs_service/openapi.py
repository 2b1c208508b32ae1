"""The OpenAPI document, made of the declarations of the operations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import TypeAdapter

from sandbox.docs_service.operations import EVENTS, Operation
from sandbox.docs_service.options import BODY_LIMIT_BYTES
from sandbox.docs_service.wire import Error, GithubError, Missing

Json = dict[str, Any]
_TEXT = {"type": "string", "minLength": 1}
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 999_999_999, "examples": [1]}


def document(address: str, operations: Sequence[Operation]) -> Json:
    """Return the OpenAPI 3.1 document of the operations of a service at this address."""
    paths: dict[str, Json] = {}
    for one in operations:
        paths.setdefault(_template(one.path), {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agent jobs, visitor analytics and answers from the docs",
            "version": "2.1.0",
        },
        "servers": [{"url": address}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                f"{kind}Key": {"type": "http", "scheme": "bearer"}
                for kind in ("admin", "assistant")
            },
            "schemas": _schemas(operations),
        },
    }


def _template(path: str) -> str:
    """Return a route's path without the patterns of its parameters."""
    return re.sub(r"\{(\w+):[^{}]*\}", r"{\1}", path)


def _operation(one: Operation) -> Json:
    body = (
        {"requestBody": {"required": True, **_content(one.types["body"])}}
        if "body" in one.types
        else {}
    )
    return {
        "operationId": one.name,
        "parameters": list(_parameters(one)),
        "responses": dict(_responses(one)),
        "security": [] if one.key == "github" else [{f"{one.key}Key": []}],
        **body,
    }


def _parameters(one: Operation) -> Iterator[Json]:
    for name in re.findall(r"\{(\w+)\}", _template(one.path)):
        schema = _NUMBER if name == "number" else _TEXT
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    if "query" in one.types:
        for name, schema in one.types["query"].model_json_schema()["properties"].items():
            yield {"name": name, "in": "query", "schema": schema}


def _responses(one: Operation) -> Iterator[tuple[str, Json]]:
    """Return the answer, and the refusals that follow from the parameters of an operation."""
    yield str(one.status), {"description": one.about, **_content(one.types["return"])}
    yield "405", _refusal("The method is not possible here.", header="Allow")
    if one.key == "github":
        yield "304", {"description": "It is as it was when the ETag of If-None-Match was given."}
        yield "401", _refusal("The token is not known.", GithubError)
        yield "403", _refusal("The limit is reached.", GithubError)
        yield "404", _refusal("There is none.", GithubError)
        return
    yield "400", _refusal("The request is invalid, or the job takes no more messages.")
    yield "401", _refusal("The key is missing or unknown.", header="WWW-Authenticate")
    if one.key == "assistant":
        yield "404", _refusal("There is no such domain or page.", Missing)
    else:
        yield "404", _refusal("There is no such project or job.")
    if one.limit:
        yield "429", _refusal(one.limit, header="Retry-After")
    if "body" in one.types:
        yield "413", _refusal(f"The body is longer than {BODY_LIMIT_BYTES} bytes.")
        yield "415", _refusal("The body is not application/json in UTF-8.")


def _refusal(description: str, error: type = Error, *, header: str = "") -> Json:
    kind = {"type": "integer", "minimum": 1} if header == "Retry-After" else {"type": "string"}
    headers = {"headers": {header: {"required": True, "schema": kind}}} if header else {}
    return {"description": description, **_content(error), **headers}


def _content(kind: type) -> Json:
    if kind is str:
        return {"content": {EVENTS: {}}}
    one = _of_list(kind)
    schema: Json = {"$ref": f"#/components/schemas/{one.__name__}"}
    if one is not kind:
        schema = {"type": "array", "items": schema}
    return {"content": {"application/json": {"schema": schema}}}


def _of_list(kind: type) -> type:
    """Return the type of the items of a list, and any other type itself."""
    one: type = get_args(kind)[0] if get_origin(kind) is list else kind
    return one


def _schemas(operations: Sequence[Operation]) -> Mapping[str, Any]:
    kinds: dict[str, type] = {kind.__name__: kind for kind in (Error, GithubError, Missing)}
    for one in operations:
        found = (_of_list(kind) for name, kind in one.types.items() if name in ("body", "return"))
        kinds |= {kind.__name__: kind for kind in found if kind is not str}
    adapters: Any = [(name, "validation", TypeAdapter(kind)) for name, kind in kinds.items()]
    _, made = TypeAdapter.json_schemas(adapters, ref_template="#/components/schemas/{model}")
    definitions: Json = made["$defs"]
    return definitions
