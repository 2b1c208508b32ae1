"""The transcript of a trial, and its comparison with the stand-ins of the sandbox.

A line is one request with its answer, or one event, as JSON: names, shapes and seconds. It has no
words, ids or keys, only the names of fields and of types (`bot.store.shapes`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bot.store.shapes import describe_shape
from bot.store.trials import TrialNote

_SLACK = "slack"
_DOCS = "docs service"
_GITHUB = "github"
_EVENT = "event"
"""The four kinds of lines: calls of three services, and events."""
_STAND_INS = Path(__file__).parent / "stand_ins.json"
_PATH_PARTS = frozenset(
    {
        *("agent", "job", "message"),
        *("analytics", "visitors", "views", "searches", "feedback", "by-page", "assistant"),
        *("project", "preview", "update-status"),
        *("discovery", "search", "page"),
        *("repos", "pulls", "files", "compare", "rate_limit"),
        *("v1", "v2"),
    }
)
"""The fixed parts of paths; all others are ids."""
_MIN_FAILURE = 400
_ABSENT_TYPE = "absent"
Fields = dict[str, list[str]]
"""The types of each field of an answer, by its path."""


@dataclass(slots=True)
class Recorder:
    """Collects the lines of a transcript."""

    lines: list[dict[str, object]] = field(default_factory=list)

    def add_slack_call(
        self,
        method: str,
        arguments: Mapping[str, object],
        status: int,
        body: object,
        seconds: float,
    ) -> None:
        """Add a call of Slack's Web API."""
        known = {
            name: _parse_argument(value)
            for name, value in arguments.items()
            if value is not None and name != "token"
        }
        self._add(_SLACK, method, known, status, body, seconds)

    def add_docs_call(
        self, path: str, fields: Mapping[str, object], status: int, body: bytes, seconds: float
    ) -> None:
        """Add a call of the docs service."""
        verb = "POST" if fields else "GET"
        self._add(
            _DOCS, f"{verb} {_make_template(path)}", fields, status, _decode_body(body), seconds
        )

    def add_github_call(self, path: str, status: int, body: bytes, seconds: float) -> None:
        """Add a call of GitHub."""
        self._add(_GITHUB, f"GET {_make_template(path)}", {}, status, _decode_body(body), seconds)

    def add_event(self, note: TrialNote) -> None:
        """Add an event that the running bot has noted."""
        if note.shape is not None:
            self.lines.append({"to": _EVENT, "name": note.name, "answer": note.shape})

    def _add(
        self,
        service: str,
        name: str,
        request: object,
        status: int,
        answer: object,
        seconds: float,
    ) -> None:
        line: dict[str, object] = {"to": service, "name": name, "status": status}
        line["seconds"] = round(seconds, 3)
        line["request"] = describe_shape(request)
        line["answer"] = describe_shape(answer)
        self.lines.append(line)

    def write(self, file: Path) -> None:
        """Write the transcript to a new file, as JSON lines. Raises OSError."""
        with file.open("x", encoding="utf-8") as opened:
            for line in self.lines:
                opened.write(json.dumps(line, ensure_ascii=False) + "\n")


def _parse_argument(value: object) -> object:
    """Return an argument that Slack's library has turned into JSON text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        return _decode_body(value.encode())
    return value


def _decode_body(body: bytes) -> object:
    """Return the parsed JSON of a body; ``text`` for anything else, such as a stream."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return "text"


def _make_template(path: str) -> str:
    """Return a path with its ids replaced, and without its query."""
    parts = urlsplit(path).path.strip("/").split("/")
    return "/" + "/".join(part if part in _PATH_PARTS else "{id}" for part in parts)


# ---- the comparison


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between an answer and the stand-in's answer."""

    name: str
    """The service and the method, or the event."""
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


class UnreadableTranscript(ValueError):
    """A file that is no transcript; the text names the line."""


def read_transcript(file: Path) -> list[dict[str, object]]:
    """Return the lines of a transcript. Raises OSError, or UnreadableTranscript."""
    lines: list[dict[str, object]] = []
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict) or not {"to", "name", "answer"} <= line.keys():
            raise UnreadableTranscript(f"line {number} is no line of a transcript")
        lines.append(line)
    return lines


def fields_of(lines: Iterable[Mapping[str, object]]) -> dict[str, Fields]:
    """Return the fields of all successful answers and events, by the name of their line.

    A field that some of its objects lack has the type ``absent``, too.
    """
    found: dict[str, _SeenFields] = {}
    for line in lines:
        if _is_success(line):
            found.setdefault(f"{line['to']} {line['name']}", _SeenFields()).add(line["answer"], "")
    return {name: seen.fields() for name, seen in sorted(found.items())}


@dataclass(slots=True)
class _SeenFields:
    """The types of the fields of several answers, by path, and the objects that have them."""

    types: dict[str, set[str]] = field(default_factory=dict)
    objects: dict[str, int] = field(default_factory=dict)
    """How many objects there were at a path."""
    uses: dict[str, int] = field(default_factory=dict)
    """How many objects had a field, by the field's path."""

    def add(self, shape: object, path: str) -> None:
        """Add a shape, with the fields in it."""
        types = self.types.setdefault(path, set())
        if isinstance(shape, Mapping):
            types.add("object")
            self.objects[path] = self.objects.get(path, 0) + 1
            for name, part in shape.items():
                inner = f"{path}.{name}" if path else str(name)
                self.uses[inner] = self.uses.get(inner, 0) + 1
                self.add(part, inner)
        elif isinstance(shape, list):
            types.add("list")
            for part in shape:
                self.add(part, f"{path}[]")
        else:
            types.add("term" if str(shape).startswith("=") else str(shape))

    def fields(self) -> Fields:
        """Return the types of each field, with ``absent`` where some objects lack it."""
        for path, uses in self.uses.items():
            if uses < self.objects[_find_parent(path)]:
                self.types[path].add(_ABSENT_TYPE)
        return {path: sorted(types) for path, types in sorted(self.types.items())}


def _is_success(line: Mapping[str, object]) -> bool:
    """Return whether a line has an event or a successful answer.

    Slack refuses with status 200, and with an error code, which is a term.
    """
    status = line.get("status", 200)
    answer = line["answer"]
    is_refused = line["to"] == _SLACK and isinstance(answer, Mapping) and "error" in answer
    return isinstance(status, int) and status < _MIN_FAILURE and not is_refused


def read_stand_ins() -> dict[str, Fields]:
    """Return the fields of the answers of the sandbox's services, and of its events."""
    fields: dict[str, Fields] = json.loads(_STAND_INS.read_text(encoding="utf-8"))
    return fields


def compare(
    lines: Iterable[Mapping[str, object]], known: Mapping[str, Fields]
) -> Iterator[Difference]:
    """Yield the differences of a transcript from the stand-ins."""
    for name, fields in fields_of(lines).items():
        if name not in known:
            yield Difference(name, "the stand-ins do not have it")
            continue
        yield from _compare_fields(name, fields, known[name])


def _compare_fields(name: str, fields: Fields, known: Fields) -> Iterator[Difference]:
    for path, types in fields.items():
        if path not in known:
            if _find_parent(path) in known:
                yield Difference(name, f"{path} ({', '.join(types)}) is not in the stand-ins")
            continue
        if others := sorted(set(types) - set(known[path])):
            expected = ", ".join(known[path])
            yield Difference(
                name, f"{path} is {', '.join(others)}, and {expected} in the stand-ins"
            )
    for path, known_types in known.items():
        if _ABSENT_TYPE in known_types:
            continue
        if path not in fields and "object" in fields.get(_find_parent(path), ()):
            yield Difference(name, f"{path} is missing, and in the stand-ins")


def _find_parent(path: str) -> str:
    """Return the path of the object or list that has a field."""
    if path.endswith("[]"):
        return path.removesuffix("[]")
    return path.rpartition(".")[0]
