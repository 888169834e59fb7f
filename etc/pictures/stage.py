"""A sandbox and a daemon in a temporary folder, for the scripts that draw pictures."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
PORT = 8790
ISSUER = f"http://127.0.0.1:{PORT}"
LIMIT = 180  # seconds to wait for each condition

ACCOUNT = """
[accounts.{}]
type        = "oidc"
issuer      = "{}"
client_id   = "hearth"
api_origins = ["{}"]
"""


def await_that(condition, what):
    deadline = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"This did not happen within {LIMIT} s: {what}.")
        time.sleep(0.2)


class Stage:
    """Runs the programs in a temporary folder, and ends them afterwards."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hearth-pictures."))
        self.children = []
        self.environment = {
            "HOME": str(self.folder), "HEARTH_SOCKET": str(self.folder / "rpc.sock"), "LANG": "C.UTF-8",
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "BROWSER": str(HERE.parent / "demo" / "browser.py"),
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
            child.wait()
        shutil.rmtree(self.folder)

    def start(self, *command):
        log = open(self.folder / f"{command[0]}.log", "w")
        self.children.append(subprocess.Popen(command, env=self.environment, cwd=self.folder, stdout=log, stderr=log))

    def run(self, *command, **variables):
        return subprocess.run(
            command, env=self.environment | variables, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def fault(self, answer):
        self.run("curl", "--silent", "--fail", "--data", answer, f"{ISSUER}/__fault").check_returncode()

    def start_hearth(self, accounts, token_lifetime):
        """Starts a sandbox and a daemon with these accounts. Nobody has signed in yet."""
        configuration = "".join(ACCOUNT.format(name, ISSUER, ISSUER) for name in accounts)
        (self.folder / "config.toml").write_text(configuration + "\n[refresh]\njitter = 0.0\n")
        (self.folder / "config.toml").chmod(0o600)
        self.start("hearth-sandbox", "--port", str(PORT), "--token-lifetime", str(token_lifetime))
        await_that(lambda: "listening" in (self.folder / "hearth-sandbox.log").read_text(), "the sandbox listens")
        self.start("hearthd", "--config", str(self.folder / "config.toml"), "--state-dir", str(self.folder / "state"))
        await_that(lambda: self.run("hearthctl", "rpc", "daemon.getInfo").returncode == 0, "the daemon answers")

    def sign_in(self, account, user):
        await_that(lambda: self.run("hearthctl", "login", account, BROWSER_USER=user).returncode == 0, "a sign-in")
