"""The second provider, for checks: Canaille (Flask, Authlib) in a process of second/serve.py."""

import json
import socket
import sys
from pathlib import Path

SERVE = Path(__file__).parent / "second" / "serve.py"


class SecondProvider:
    """The second provider. It compares the whole redirect address, including the port, so a free port is chosen
    first."""

    name = "second"

    def __init__(self, stage):
        self.stage = stage
        self.folder = stage.folder / self.name
        self.folder.mkdir(mode=0o700)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.redirect_port = free.getsockname()[1]
        self.redirect_uri = f"http://127.0.0.1:{self.redirect_port}/callback"
        self.process, self.url = stage.start(
            self.name,
            [sys.executable, SERVE, "0", self.redirect_uri, self.folder],
            until="listening on ",
            env=stage.environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        self.issuer = self.url

    def calls(self, **wanted):
        """The calls of its token and revocation endpoints, in order."""
        file = self.folder / "calls.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [call for call in lines if all(call.get(name) == value for name, value in wanted.items())]

    def secrets(self):
        """Every token that it has issued."""
        file = self.folder / "secrets"
        return set(file.read_text().split()) if file.exists() else set()
