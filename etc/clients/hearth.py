"""A client of hearthd in one file, for Python 3.9 and later, without dependencies. Copy it into your program.

    from hearth import Hearth, HearthError, follow

    with Hearth() as hearth:
        token = hearth.get_token("work", url="https://api.example.com/me")
        answer = hearth.request("work", "GET", "https://api.example.com/me")

    for event in follow("work"):
        print(event["method"])

Use each `Hearth` in only one thread. If a call fails, it raises `HearthError` with a sentence for the user.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import random
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Union

JSONObject = Dict[str, Any]


class HearthError(Exception):
    """The reason why a call failed. `code` is None if the daemon did not answer."""

    def __init__(self, message: str, code: Optional[int] = None, data: Optional[JSONObject] = None) -> None:
        super().__init__(message)
        data = data or {}
        self.code = code
        #: The kind of error, such as "locked" or "reauthRequired". "programs.md" lists all kinds.
        self.kind: Optional[str] = data.get("kind")
        #: Whether the same call may succeed later without user action.
        self.retryable: bool = bool(data.get("retryable", code is None))
        #: What the user can do: "signIn", "unlock", "wait", "fixConfiguration", or None.
        self.action: Optional[str] = data.get("action")


@dataclass(frozen=True)
class Token:
    #: The secret token. Send it immediately, and do not store it.
    access_token: str = field(repr=False)
    token_type: str
    #: Identifies the token in logs and for `report_unauthorized`.
    fingerprint: str
    #: The time at which the token expires (RFC 3339), or None if it is unknown.
    expires_at: Optional[str]

    @property
    def authorization(self) -> str:
        return f"{self.token_type} {self.access_token}"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Dict[str, Any]
    body: bytes
    #: Whether the response is cached. Hearth returns one only if the call sets `cache` (see "programs.md").
    from_cache: bool


class Hearth:
    """A connection to the user's daemon."""

    def __init__(self, path: Optional[str] = None, timeout: Optional[float] = 60) -> None:
        """Connects to the daemon. `path` is the socket, if it is not at its default path. `timeout` limits each wait
        for the daemon, in seconds. After a timeout, the connection cannot be used again."""
        self._numbers = itertools.count(1)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(path or socket_path())
            _, uid, _ = struct.unpack("3i", self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid != os.getuid():
                raise HearthError(f"The daemon on the socket runs as another user ({uid}).", data={"retryable": False})
        except OSError as error:
            self._socket.close()
            raise HearthError(f"No daemon answers: {error}. Start hearthd.") from error
        except HearthError:
            self._socket.close()
            raise
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> Hearth:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def call(self, method: str, /, **params: Any) -> JSONObject:
        """Calls any method that "programs.md" describes. Parameters that are None are omitted."""
        number = next(self._numbers)
        given = {name: value for name, value in params.items() if value is not None}
        line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": given})
        try:
            self._socket.sendall(line.encode() + b"\n")
        except OSError as error:
            raise HearthError(f"The connection to the daemon is closed: {error}.") from error
        while True:
            message = self._read()
            if message.get("id") != number:
                continue  # an event of an earlier subscription
            if "error" in message:
                refusal = message["error"]
                raise HearthError(refusal["message"], refusal["code"], refusal.get("data"))
            result: JSONObject = message["result"]
            return result

    def get_token(self, account: str, url: Optional[str] = None, min_validity: Optional[int] = None) -> Token:
        """Returns a token. If the current one expires within a minute, or within `min_validity` seconds, Hearth
        refreshes it first. If `url` is given, the call fails unless the account's `api_origins` contain its origin."""
        result = self.call("session.getToken", account=account, url=url, minValiditySeconds=min_validity)
        return Token(result["accessToken"], result["tokenType"], result["fingerprint"], result["expiresAt"])

    def report_unauthorized(self, account: str, token: Token, www_authenticate: Optional[str] = None) -> None:
        """Reports an API's 401. Call `get_token` afterwards. `www_authenticate` is its `WWW-Authenticate` header."""
        self.call(
            "session.reportUnauthorized", account=account, fingerprint=token.fingerprint,
            wwwAuthenticate=www_authenticate)

    def request(
        self, account: str, method: str, url: str, body: Optional[bytes] = None,
        headers: Optional[Dict[str, str]] = None,
    ) -> Answer:
        """Sends a request through Hearth, which adds the account's token. This program never sees the token."""
        result = self.call(
            "http.request", account=account, method=method, url=url, headers=headers,
            bodyBase64=None if body is None else base64.b64encode(body).decode())
        text: Optional[str] = result.get("body")
        content = base64.b64decode(result.get("bodyBase64") or "") if text is None else text.encode()
        return Answer(result["status"], result["headers"], content, bool(result.get("fromCache")))

    def events(self, account: Optional[str] = None, topics: Optional[List[str]] = None) -> Iterator[JSONObject]:
        """Yields {"method": "snapshot", "sessions": […], "outbox": …} first, then each change as it happens.
        Do not use the connection for other calls meanwhile, because they would discard events."""
        snapshot = self.call("events.subscribe", account=account, topics=topics)["snapshot"]
        self._socket.settimeout(None)
        yield {"method": "snapshot", **snapshot}
        while True:
            message = self._read()
            if "method" in message:
                yield {"method": message["method"], **message["params"]}

    def _read(self) -> JSONObject:
        try:
            line = self._lines.readline()
        except OSError as error:
            raise HearthError(f"The daemon does not answer: {error}.") from error
        if not line:
            raise HearthError("The daemon has stopped.")
        message: JSONObject = json.loads(line)
        return message


def follow(account: Optional[str] = None, path: Optional[str] = None) -> Iterator[JSONObject]:
    """Yields the events of `Hearth.events` forever. If the daemon restarts, connects again and yields another
    snapshot. Raises `HearthError` if a retry cannot help, for example if the account is unknown."""
    pause = 0.1
    while True:
        try:
            with Hearth(path) as hearth:
                for event in hearth.events(account):
                    if event["method"] == "events.closed":
                        break  # some events were missed; the next snapshot includes them
                    pause = 0.1
                    yield event
        except HearthError as error:
            if not error.retryable:
                raise
        time.sleep(pause * random.uniform(0.5, 1))
        pause = min(2 * pause, 5)


def socket_path() -> str:
    """Returns $HEARTH_SOCKET, or the default path of the socket."""
    runtime: Union[str, None] = os.environ.get("XDG_RUNTIME_DIR")
    path = os.environ.get("HEARTH_SOCKET") or (runtime and f"{runtime}/hearth/rpc.sock")
    if not path:
        raise HearthError("XDG_RUNTIME_DIR is not set. Set HEARTH_SOCKET.", data={"retryable": False})
    return path
