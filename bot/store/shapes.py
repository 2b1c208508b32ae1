"""The shapes of JSON: fields and types, without words, ids and keys.

A shape is JSON itself. An object is an object of shapes, a list is a list of the shapes of its
elements without repeats, and any other value is the name of its type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_MAX_FIELDS = 200
_MAX_ELEMENTS = 50
_MAX_DEPTH = 12
_FIELD_PATTERN = re.compile(r"[a-z_][A-Za-z0-9_]{0,59}")
"""The name of a field. Other keys are ids or texts, such as the ids of blocks in a form's state."""
_TS_PATTERN = re.compile(r"[0-9]{10}\.[0-9]{6}")
_ID_PATTERN = re.compile(r"[A-Z][A-Z0-9]{5,20}")
_TIME_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.+Z-]{4,30})?")
_ADDRESS_PATTERN = re.compile(r"(https?|wss?)://")
_TERM_PATTERN = re.compile(r"[a-z][a-z_]{0,40}")
_TERMS = frozenset({"channel_type", "error", "file_access", "mode", "status", "subtype", "type"})
"""The fields whose values are terms of an interface and not of people."""


def describe_shape(value: object, depth: int = 0) -> object:
    """Return the shape of a JSON value."""
    if depth == _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return _describe_object(value, depth)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        shapes: list[object] = []
        for element in value[:_MAX_ELEMENTS]:
            shape = describe_shape(element, depth + 1)
            if shape not in shapes:
                shapes.append(shape)
        return shapes
    return _name_type(value)


def _describe_object(value: Mapping[object, object], depth: int) -> dict[str, object]:
    shapes: dict[str, object] = {}
    for name, part in list(value.items())[:_MAX_FIELDS]:
        is_term = name in _TERMS and isinstance(part, str) and _TERM_PATTERN.fullmatch(part)
        key = name if isinstance(name, str) and _FIELD_PATTERN.fullmatch(name) else "*"
        shapes[key] = f"={part}" if is_term else describe_shape(part, depth + 1)
    return shapes


def _name_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str() if _TS_PATTERN.fullmatch(value):
            return "timestamp"
        case str() if _ID_PATTERN.fullmatch(value):
            return "id"
        case str() if _TIME_PATTERN.fullmatch(value):
            return "time"
        case str() if _ADDRESS_PATTERN.match(value):
            return "address"
    return "text"
