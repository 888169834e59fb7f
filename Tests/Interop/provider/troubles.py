"""A layer in front of the site that records each call and makes the troubles that a check has asked for."""

import base64
import io
import json
import os
import threading
import time
from urllib.parse import parse_qs

import calls

now = {
    # Holds back answers to refreshes while it is set. The tokens are already rotated.
    "refreshes_held": False,
    # The number of answers to refreshes to lose after the tokens are rotated.
    "refresh_replies_lost": 0,
    # The HTTP status with which the API answers every request; 0 for its usual answers.
    "api_status": 0,
    # The number of the API's answers to POST to lose after it has acted on the request.
    "api_replies_lost": 0,
    **json.loads(os.environ.get("INTEROP_TROUBLES", "{}")),
}
_changed = threading.Condition()


def change(**troubles):
    """Sets some troubles and leaves the others unchanged."""
    with _changed:
        now.update(troubles)
        _changed.notify_all()


class Troubled:
    """A WSGI application that wraps another."""

    def __init__(self, site):
        self.site = site

    def __call__(self, environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path.startswith("/control/"):
            return self.site(environ, start_response)
        began = time.time()
        if path.startswith("/api/") and now["api_status"]:
            head, answer = (f"{now['api_status']} Trouble", [("Content-Length", "0")]), b""
        else:
            head, answer = self.ask(environ)
        call = {"method": method, "path": path, "status": int(head[0].split()[0]), "began": began, "ended": time.time()}
        call |= details(environ, body, answer)
        calls.record(**call)
        if call.get("grant") == "refresh_token":
            with _changed:
                _changed.wait_for(lambda: not now["refreshes_held"])
            lose_some("refresh_replies_lost", environ)
        if path.startswith("/api/") and method == "POST":
            lose_some("api_replies_lost", environ)
        start_response(*head)
        return [answer]

    def ask(self, environ):
        head = []
        answer = self.site(environ, lambda status, headers, *_: head.extend((status, headers)))
        try:
            return head, b"".join(answer)
        finally:
            answer.close()


def lose_some(trouble, environ):
    """Closes the connection without an answer, as often as the trouble says."""
    if now[trouble] > 0:
        now[trouble] -= 1
        environ["interop.handler"].close_connection = True
        # The server treats this like a client that has disconnected.
        raise ConnectionAbortedError


def details(environ, body, answer):
    """What checks may need to know about a call, without its secrets."""
    authorization = environ.get("HTTP_AUTHORIZATION", "")
    if authorization.startswith("Bearer "):
        return {"bearer": calls.fingerprint(authorization.removeprefix("Bearer "))}
    if environ["PATH_INFO"] not in ("/o/token/", "/o/revoke_token/"):
        return {}
    fields = {name: values[0] for name, values in parse_qs(body.decode()).items()}
    in_header, in_body = authorization.startswith("Basic "), "client_secret" in fields
    try:
        told = json.loads(answer)
    except ValueError:
        told = {}
    return {
        "client": base64.b64decode(authorization[6:]).decode().split(":")[0] if in_header else fields.get("client_id"),
        "auth": "both" if in_header and in_body else "basic" if in_header else "post" if in_body else "none",
        "grant": fields.get("grant_type"),
        "token": calls.fingerprint(fields.get("refresh_token") or fields.get("token")),
        "issued": calls.fingerprint(told.get("access_token")),
        "error": told.get("error"),
    }
