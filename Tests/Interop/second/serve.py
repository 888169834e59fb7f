"""serve.py PORT REDIRECT_URI FOLDER: serves Canaille on loopback, in memory, with a person and the client "hearth".

In the folder it records the calls (calls.jsonl) and every token that it has issued (secrets).
"""

import hashlib
import io
import json
import os
import signal
import socket
import sys
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import parse_qs

os.umask(0o077)

from canaille import create_app  # noqa: E402
from canaille.app import models  # noqa: E402
from canaille.backends import Backend  # noqa: E402
from joserfc.jwk import RSAKey  # noqa: E402
from werkzeug.serving import WSGIRequestHandler, make_server  # noqa: E402

SETTINGS = {
    "SECRET_KEY": "this site lives for a few seconds, on loopback",
    "PREFERRED_URL_SCHEME": "http",
    "SESSION_COOKIE_SECURE": False,
    "CACHE_TYPE": "SimpleCache",
    "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False, "HTMX": False, "LANGUAGE": "en", "TIMEZONE": "UTC"},
    "CANAILLE_OIDC": {
        "ACTIVE_JWKS": [RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True).as_dict(private=True)],
        # By default, clients on a loopback address need no consent.
        "TRUSTED_DOMAINS": [],
    },
}


class Quiet(WSGIRequestHandler):
    def log_request(self, *_):
        """Logs nothing, because a line would contain the code."""


class Noted:
    """A WSGI application that wraps another and records the calls of clients."""

    def __init__(self, site, folder):
        self.site, self.folder = site, folder

    def __call__(self, environ, start_response):
        path = environ["PATH_INFO"]
        if path not in ("/oauth/token", "/oauth/revoke"):
            return self.site(environ, start_response)
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        head = []
        answer = b"".join(self.site(environ, lambda status, headers, *_: head.extend((status, headers))))
        self.note(path, int(head[0].split()[0]), parse_qs(body.decode()), answer)
        start_response(*head)
        return [answer]

    def note(self, path, status, fields, answer):
        sent = {name: values[0] for name, values in fields.items()}
        try:
            told = json.loads(answer)
        except ValueError:
            told = {}
        token = sent.get("refresh_token") or sent.get("token")
        call = {
            "path": path, "status": status, "grant": sent.get("grant_type"), "error": told.get("error"),
            "token": hashlib.sha256(token.encode()).hexdigest()[:8] if token else None,
        }
        given = [told[name] for name in ("access_token", "refresh_token", "id_token") if told.get(name)]
        with open(self.folder / "secrets", "a") as file:
            file.writelines(token + "\n" for token in given)
        with open(self.folder / "calls.jsonl", "a") as file:
            file.write(json.dumps(call) + "\n")


def fill(redirect_uri):
    person = models.User(
        user_name="ada", formatted_name="Ada Lovelace", given_name="Ada", family_name="Lovelace",
        emails=["ada@example.com"], password="analytical",
    )
    client = models.Client(
        client_id="hearth", client_name="Hearth", client_secret="", redirect_uris=[redirect_uri],
        client_id_issued_at=datetime.now(timezone.utc), token_endpoint_auth_method="none",
        grant_types=["authorization_code", "refresh_token"], response_types=["code"],
        id_token_signed_response_alg="RS256", scope=["openid", "profile", "email"],
    )
    Backend.instance.save(person)
    Backend.instance.save(client)
    # The client is the audience of its own access tokens.
    client.audience = [client]
    Backend.instance.save(client)


def serve(port, redirect_uri, folder):
    with socket.create_server(("127.0.0.1", port), backlog=64) as listener:
        found = listener.getsockname()[1]
        app = create_app(SETTINGS | {"SERVER_NAME": f"127.0.0.1:{found}"})
        with app.app_context(), Backend.instance.session():
            fill(redirect_uri)
        server = make_server(
            "127.0.0.1", found, Noted(app, folder), threaded=True, request_handler=Quiet, fd=listener.fileno()
        )
        print(f"listening on http://127.0.0.1:{found}", flush=True)
        server.serve_forever()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
serve(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
