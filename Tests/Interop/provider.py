"""The first provider, for checks: a process of provider/serve.py with its own folder, database and settings."""

import json
import os
import shutil
import sqlite3
import sys
from pathlib import Path

import signin

SERVE = Path(__file__).parent / "provider" / "serve.py"
# Grant types of its clients, in addition to the authorization code.
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
CLIENT_CREDENTIALS = "client-credentials"


def environment(folder, settings=None, troubles=None):
    return os.environ | {
        "INTEROP_FOLDER": str(folder),
        "INTEROP_SETTINGS": json.dumps(settings or {}),
        "INTEROP_TROUBLES": json.dumps(troubles or {}),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Provider:
    def __init__(self, stage, name, site, settings):
        self.stage, self.name, self.settings = stage, name, settings
        self.folder = stage.folder / name
        shutil.copytree(site, self.folder)
        self.port = 0
        self.process = None
        self.start()

    def start(self, **troubles):
        """Starts it at the same port as before, with its earlier state. The troubles apply from the first call on."""
        self.process, found = self.stage.start(
            self.name,
            [sys.executable, SERVE, str(self.port)],
            until="listening on ",
            env=environment(self.folder, self.settings, troubles),
        )
        self.url = found
        self.port = int(found.rsplit(":", 1)[1])
        self.issuer = self.url + "/o"

    def stop(self):
        self.stage.end(self.process)

    def client(self, client_id="hearth", client_secret="", grant_type=None, redirect_uri=signin.REDIRECT_URI):
        wanted = {"client_id": client_id, "client_secret": client_secret, "redirect_uri": redirect_uri}
        wanted["grant_type"] = grant_type
        self._post("/control/client", wanted)

    def trouble(self, **troubles):
        self._post("/control/trouble", troubles)

    def _post(self, path, value):
        status, body, _ = signin.open_url(self.url + path, body=json.dumps(value).encode())
        if status != 200:
            raise AssertionError(f"{path} answered {status}: {body[:500]}")

    def grant(self, client_id="hearth", client_secret=None):
        """A real grant for a person: the token endpoint's answer to an authorization code."""
        return signin.sign_in(self.url, client_id, client_secret)

    def spend(self, refresh_token, client_id="hearth"):
        """Uses a refresh token without Hearth's knowledge. Returns status and answer."""
        fields = {"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": client_id}
        status, body, _ = signin.open_url(self.url + "/o/token/", fields)
        return status, json.loads(body)

    def calls(self, path=None, **wanted):
        """The calls it received, in the order in which it handled them."""
        file = self.folder / "calls.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [
            call
            for call in lines
            if path in (None, call.get("path")) and all(call.get(name) == value for name, value in wanted.items())
        ]

    def refreshes(self, **wanted):
        return self.calls("/o/token/", grant="refresh_token", **wanted)

    def effects(self):
        """The notes that its API has stored, in order."""
        return [call["effect"] for call in self.calls() if "effect" in call]

    def rows(self, query, *values):
        """Rows of its database, read by this process."""
        database = sqlite3.connect(f"file:{self.folder}/provider.sqlite3?mode=ro", uri=True, timeout=20)
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()

    def secrets(self):
        """Every token that it has issued and still knows."""
        tokens = self.rows("SELECT token FROM oauth2_provider_accesstoken") + self.rows(
            "SELECT token FROM oauth2_provider_refreshtoken"
        )
        return {token for (token,) in tokens if token}

    def holds_refresh_token(self, token):
        """Whether the refresh token is known and not revoked."""
        query = "SELECT 1 FROM oauth2_provider_refreshtoken WHERE token = ? AND revoked IS NULL"
        return bool(self.rows(query, token))

    def holds_access_token(self, token):
        return bool(self.rows("SELECT 1 FROM oauth2_provider_accesstoken WHERE token = ?", token))
