"""Assemble the workspace and serve it on one port."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote, urlencode

from aiohttp import web

from sandbox.doors import serve
from sandbox.faults import Faults, Order, bad_gateway, drop_connection
from sandbox.shelf import Shelf
from sandbox.workspace.blocks import BlocksRefused
from sandbox.workspace.bot_connection import BotConnection
from sandbox.workspace.messages import content_path
from sandbox.workspace.methods import METHODS
from sandbox.workspace.options import WorkspaceOptions, read_app, utcnow
from sandbox.workspace.page_api import PageApi
from sandbox.workspace.people import People
from sandbox.workspace.responses import BadResponseUrl
from sandbox.workspace.state import Json, State
from sandbox.workspace.web_api import ApiError, Throttled, WebApi, complained, decode_arguments

CarryOut = Callable[[web.Request, Json], Awaitable[web.StreamResponse]]
_CARRIED_OUT = ("lost_answer", "slow")
"""The faults with which a call is carried out."""

_PAGE = Path(__file__).parent / "page"


class Workspace:
    """A local Slack workspace. Tests use ``people`` to act as a person and ``state`` to read the result."""

    def __init__(
        self,
        options: WorkspaceOptions,
        clock: Callable[[], datetime] = utcnow,
        docs_faults: Faults | None = None,
    ) -> None:
        self.options = options
        self.log: list[Json] = []
        self.state = State(clock, Shelf(options.folder / "workspace.db"))
        app = read_app(options.manifest)
        self.bot_connection = BotConnection(options, self.log, clock)
        self.people = People(self.state, options, self.bot_connection, app)
        self.web_api = WebApi(self.people, METHODS)
        self.faults = Faults()
        faults = {"method": self.faults, **({"match": docs_faults} if docs_faults else {})}
        self.page = PageApi(self.people, app.shortcuts, options.docs_service_url, faults)
        self._runner: web.AppRunner | None = None
        self.base_url = ""

    @property
    def api_url(self) -> str:
        """Return the base URL of the Web API."""
        return f"{self.base_url}/api/"

    async def start(self, port: int = 0) -> str:
        """Start the server and return the URL of the web page."""
        self._runner, self.base_url = await serve(self._web_app(), port)
        self.bot_connection.sockets.base_url = self.people.tickets.base_url = self.base_url
        return self.base_url

    async def stop(self) -> None:
        """Stop the server and close the file of the state."""
        await self.bot_connection.stop()
        if self._runner is not None:
            await self._runner.cleanup()
        self.state.shelf.close()

    def _web_app(self) -> web.Application:
        app = web.Application(client_max_size=20_000_000)
        app.router.add_post("/api/{method}", self._call)
        app.router.add_get("/api/{method}", self._call)
        app.router.add_get("/link", self._open_socket)
        app.router.add_post("/response/{token}", self._respond)
        app.router.add_post("/upload/{file}", self._upload)
        app.router.add_get("/files/{file}", self._file_content)
        app.router.add_get("/files-pri/{team}-{file}{download:(/download)?}", self._private_file)
        app.router.add_get("/sandbox/log", self._show_log)
        self.page.add_routes(app)
        app.router.add_get("/", self._page)
        app.router.add_get(
            r"/archives/{channel:[A-Z0-9]+}/p{seconds:\d{10}}{micros:\d{6}}", self._permalink
        )
        app.router.add_static("/static/", _PAGE)
        return app

    async def _permalink(self, request: web.Request) -> web.Response:
        """Redirect a permalink to the message's thread on the web page."""
        at, root = request.match_info, request.query.get("thread_ts")
        thread = root or f"{at['seconds']}.{at['micros']}"
        raise web.HTTPFound(f"/#{urlencode({'c': at['channel'], 't': thread})}")

    async def _page(self, _request: web.Request) -> web.FileResponse:
        policy = "default-src 'self'; img-src 'self' data: http: https:; style-src 'self' 'unsafe-inline'"
        return web.FileResponse(_PAGE / "index.html", headers={"Content-Security-Policy": policy})

    async def _open_socket(self, request: web.Request) -> web.StreamResponse:
        """Serve a socket. Every kind of fault refuses the handshake."""
        entry = self._log("socket")
        if (fault := self.faults.take("socket")) is not None:
            return await _faulty(fault, request, entry)
        self.state.publish("bot", bot={"connected": True, "mode": self.bot_connection.mode})
        try:
            done = await self.bot_connection.sockets.connect(request)
            entry["ok"] = done.status == HTTPStatus.SWITCHING_PROTOCOLS
            return done
        finally:
            connected = self.bot_connection.is_reachable()
            self.state.publish(
                "bot", bot={"connected": connected, "mode": self.bot_connection.mode}
            )

    def _log(self, method: str, **fields: object) -> Json:
        entry = {"to": "slack", "method": method, "at": time.time(), **fields}
        self.log.append(entry)
        return entry

    async def _call(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        entry = self._log(name)
        try:
            arguments = await _arguments(request)
            self._check_token(name, request, arguments)
            entry |= _log_fields(arguments)
            fault = self.faults.take(name)
            if fault is not None and fault.fault not in _CARRIED_OUT:
                return await _faulty(fault, request, entry)
            answer = await self.web_api.call(name, decode_arguments(arguments))
            entry |= {"ok": True, "ts_made": answer.get("ts")}
            done = web.json_response({"ok": True, **answer}, headers=self._scopes_of(name))
            return done if fault is None else await _faulty(fault, request, entry, done)
        except ApiError as error:
            entry |= {"ok": False, "error": error.code}
            return web.json_response({"ok": False, "error": error.code, **error.about})
        except Throttled as error:
            entry |= {"ok": False, "error": "ratelimited"}
            return _throttled(math.ceil(error.seconds))

    def _scopes_of(self, name: str) -> dict[str, str]:
        """Return the header in which Slack lists the scopes of a bot's token.

        https://docs.slack.dev/authentication/installing-with-oauth
        """
        scopes = self.people.app.scopes
        if scopes is None or name == "apps.connections.open":
            return {}
        return {"X-OAuth-Scopes": ",".join(sorted(scopes))}

    def _check_token(self, name: str, request: web.Request, arguments: Json) -> None:
        header = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        token = header or str(arguments.pop("token", ""))
        if not token:
            raise ApiError("not_authed")
        wanted = (
            self.options.app_token if name == "apps.connections.open" else self.options.bot_token
        )
        if token != wanted:
            other = token in (self.options.app_token, self.options.bot_token)
            raise ApiError("not_allowed_token_type" if other else "invalid_auth")

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        return await self._with_faults("response_url", request, self._post_response)

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        return await self._with_faults("upload", request, self._store_upload)

    async def _with_faults(
        self, name: str, request: web.Request, carry_out: CarryOut
    ) -> web.StreamResponse:
        """Log a request outside the Web API and carry it out, with the ordered fault if there is one."""
        entry, fault = self._log(name, ok=False), self.faults.take(name)
        if fault is not None and fault.fault not in _CARRIED_OUT:
            return await _faulty(fault, request, entry)
        done = await carry_out(request, entry)
        return done if fault is None else await _faulty(fault, request, entry, done)

    async def _post_response(self, request: web.Request, entry: Json) -> web.Response:
        details: Json = {}
        try:
            body = await request.json()
            if not isinstance(body, dict):
                raise ValueError("not an object")
            self.people.respond(request.match_info["token"], body)
        except ValueError:
            status, entry["error"] = 400, "invalid_payload"
        except BadResponseUrl as gone:
            status, entry["error"] = 404, str(gone)
        except BlocksRefused as bad:
            status, entry["error"] = 400, str(bad)
            details = complained(bad.complaints)
        else:
            entry["ok"] = True
            return web.Response(text="ok")
        return web.json_response({"ok": False, "error": entry["error"], **details}, status=status)

    async def _store_upload(self, request: web.Request, entry: Json) -> web.Response:
        file = self.state.files.get(request.match_info["file"])
        if file is None or file["done"]:
            return web.Response(status=404)
        content = await _content(request)
        path = content_path(self.options.folder, file)
        path.parent.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(path.write_bytes, content)
        entry["ok"] = True
        return web.Response(text=f"OK - {len(content)}")

    async def _file_content(self, request: web.Request) -> web.StreamResponse:
        file = self.state.files.get(request.match_info["file"])
        if file is None or not file["done"]:
            raise web.HTTPNotFound
        headers = {
            "Content-Disposition": f"attachment; filename*=utf-8''{quote(file['name'], safe='')}",
            "Content-Type": file["mimetype"],
            "X-Content-Type-Options": "nosniff",
        }
        return web.FileResponse(content_path(self.options.folder, file), headers=headers)

    async def _private_file(self, request: web.Request) -> web.StreamResponse:
        """Return a file to the bot, or redirect to a page to sign in without its token or the scope.

        https://docs.slack.dev/messaging/working-with-files
        """
        is_bot = request.headers.get("Authorization") == f"Bearer {self.options.bot_token}"
        if not is_bot or not self.people.app.has("files:read"):
            raise web.HTTPFound("/signin")
        if not self.state.is_file_seen_by_bot(request.match_info["file"]):
            raise web.HTTPNotFound
        return await self._file_content(request)

    async def _show_log(self, _request: web.Request) -> web.Response:
        return web.json_response(self.log)


async def _faulty(
    order: Order, request: web.Request, entry: Json, done: web.StreamResponse | None = None
) -> web.StreamResponse:
    """Return the response that the bot gets instead of ``done``.

    The fault is one of 429, 429_no_header, 500, 502_html, lost_answer, slow, or ``error:<code>``. ``seconds``
    is the delay of ``slow`` or the Retry-After of ``429``.
    """
    entry["fault"] = order.fault
    seconds = 1.0 if order.seconds is None else order.seconds
    match order.fault:
        case "429":
            return _throttled(max(1, round(seconds)))
        case "429_no_header":
            return _throttled()
        case "500":
            return web.json_response({"ok": False, "error": "internal_error"}, status=500)
        case "502_html":
            return bad_gateway()
        case "lost_answer":
            return drop_connection(request)
        case "slow":
            await asyncio.sleep(seconds)
            return web.json_response({"ok": True}) if done is None else done
        case other:
            entry |= {"ok": False, "error": other.removeprefix("error:")}
            return web.json_response({"ok": False, "error": entry["error"]})


def _throttled(seconds: int | None = None) -> web.Response:
    headers = {} if seconds is None else {"Retry-After": str(seconds)}
    return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)


def _log_fields(arguments: Json) -> Json:
    """Return the arguments to log: channels, timestamps, users and the bot's metadata, never text."""
    metadata = arguments.get("metadata")
    if isinstance(metadata, str):
        with contextlib.suppress(ValueError):
            metadata = json.loads(metadata)
    keys = ("channel", "channel_id", "thread_ts", "ts", "user")
    values = {key: arguments[key] for key in keys if arguments.get(key)}
    return values | (
        {"metadata": metadata.get("event_payload")} if isinstance(metadata, dict) else {}
    )


async def _content(request: web.Request) -> bytes:
    """Return the bytes of an upload, from the body or from a file in a form."""
    if request.content_type != "multipart/form-data":
        return await request.read()
    files = [
        upload.file
        for upload in (await request.post()).values()
        if isinstance(upload, web.FileField)
    ]
    return files[0].read() if files else b""


async def _arguments(request: web.Request) -> Json:
    if request.content_type == "application/json":
        try:
            read = await request.json()
        except ValueError:
            raise ApiError("invalid_json") from None
        if not isinstance(read, dict):
            raise ApiError("json_not_object")
        return read
    return {
        **request.query,
        **{key: value for key, value in (await request.post()).items() if isinstance(value, str)},
    }
