"""A temporary folder with a daemon, its configuration and its providers. All of it ends with the `with` block."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import signin
from provider import Provider


# The time to wait for anything, in seconds. It is enough for a slow and busy machine.
LIMIT = 30


class Failure(AssertionError):
    """What is wrong, in a sentence."""


def expect(holds, otherwise):
    if not holds:
        raise Failure(otherwise)


def fingerprint(token):
    """The first 8 hex digits of the token's SHA-256, by which Hearth also identifies tokens."""
    return hashlib.sha256(token.encode()).hexdigest()[:8]


def await_that(what, condition, seconds=LIMIT):
    """Waits until the condition returns a true value, and returns that value."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        expect(time.monotonic() < deadline, f"this did not happen within {seconds} s: {what}")
        time.sleep(0.05)


class Stage:
    def __init__(self, programs, site):
        self.programs, self.site = Path(programs), site
        self.folder = None
        self.processes, self.providers = [], []
        self.daemon = None

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hearth-interop."))
        self.socket = str(self.folder / "rpc.sock")
        if len(self.socket) > 100:
            # The path of a socket has room for only 107 bytes.
            shutil.rmtree(self.folder)
            self.folder = Path(tempfile.mkdtemp(prefix="hearth-interop.", dir="/tmp"))
            self.socket = str(self.folder / "rpc.sock")
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("HEARTH_") and "proxy" not in name.lower()
        } | {"HEARTH_SOCKET": self.socket, "HOME": str(self.folder)}
        self.environment.pop("JOURNAL_STREAM", None)
        # Makes "env python3" run this Python.
        self.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return self

    def __exit__(self, kind, error, _):
        # A second signal must not interrupt the cleanup.
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for process in reversed(self.processes):
            self.end(process, timeout=5)
        if kind is not None and not issubclass(kind, SystemExit):
            self.tell()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self):
        """Prints the logs and the last calls after a failure."""
        for log, count in [("daemon.log", 40), *((f"{provider.name}.log", 20) for provider in self.providers)]:
            if (self.folder / log).exists():
                print(f"--- {log}")
                print("\n".join((self.folder / log).read_text().splitlines()[-count:]))
        for provider in self.providers:
            print(f"--- the last calls of {provider.name}")
            for call in provider.calls()[-12:]:
                print(json.dumps(call))

    # Processes

    def start(self, name, command, until=None, env=None):
        """Starts a process that writes to NAME.log. Returns it and the rest of the line that starts with `until`."""
        log = self.folder / f"{name}.log"
        seen = log.stat().st_size if log.exists() else 0
        with open(log, "ab") as file:
            # Its own session, so that a Ctrl-C reaches only this process, which ends the others.
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=env or self.environment, start_new_session=True,
            )
        self.processes.append(process)

        def told():
            expect(process.poll() is None, f"{name} ended with {process.returncode}: {log.read_text()[-2000:]}")
            lines = log.read_bytes()[seen:].decode().splitlines()
            return next((line.removeprefix(until) for line in lines if line.startswith(until)), None)

        return process, await_that(f"{name} starts", told, 2 * LIMIT) if until else None

    def end(self, process, number=signal.SIGTERM, timeout=LIMIT):
        """Ends a process, by SIGKILL if it does not end in time. Returns its exit status."""
        if process.poll() is None:
            process.send_signal(number)
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def provider(self, name="provider", **settings):
        provider = Provider(self, name, self.site, settings)
        self.providers.append(provider)
        return provider

    def configure(self, accounts, refresh=None):
        """Writes the configuration: the keys of each account, and those that all checks share."""
        tables = {f"accounts.{name}": keys for name, keys in accounts.items()}
        waits = {"backoff_initial": "200ms", "backoff_max": "1s"}
        # Longer than a check waits, so that a request it holds does not time out first.
        waits["request_timeout"] = f"{2 * LIMIT}s"
        tables["refresh"] = waits | (refresh or {})
        tables["outbox"] = {"retry_initial": "200ms", "retry_max": "1s"}
        file = self.folder / "config.toml"
        with open(file, "w") as text:
            for table, keys in tables.items():
                lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
                print(f"[{table}]", *lines, sep="\n", file=text)
        file.chmod(0o600)

    def start_daemon(self):
        command = [self.programs / "hearthd", "--config", self.folder / "config.toml"]
        command += ["--socket", self.socket, "--state-dir", self.folder / "state"]
        self.daemon, _ = self.start("daemon", command)

        def answers():
            expect(self.daemon.poll() is None, f"hearthd ended with {self.daemon.returncode} as it started")
            return self.run("rpc", "daemon.getInfo").returncode == 0

        await_that("the daemon answers", answers)

    def end_daemon(self):
        if self.daemon is None:
            return
        status = self.end(self.daemon)
        expect(status == 0, f"hearthd ended with {status} after SIGTERM")

    # The command line

    def run(self, *words, stdin=""):
        return subprocess.run(
            [self.programs / "hearthctl", *words],
            input=stdin, capture_output=True, text=True, env=self.environment, timeout=2 * LIMIT,
        )

    def begin(self, *words):
        """Starts hearthctl without waiting for it."""
        return self.start("hearthctl", [self.programs / "hearthctl", *words])[0]

    def hearthctl(self, *words, stdin="", status=0):
        """Runs hearthctl and returns its output. Fails if the exit status is not the expected one."""
        done = self.run(*words, stdin=stdin)
        said = (done.stdout + done.stderr).strip()
        call = f"\"hearthctl {' '.join(words)}\""
        expect(done.returncode == status, f"{call} exited with {done.returncode} instead of {status}: {said}")
        return said

    def rpc(self, method, **params):
        return json.loads(self.hearthctl("rpc", method, "-", stdin=json.dumps(params)))

    def session(self, account="work"):
        return self.rpc("session.get", account=account)

    def state(self, account="work"):
        """The state and reason, such as "authenticated" or "reauthRequired: refreshTokenRejected"."""
        session = self.session(account)
        return session["state"] + (f": {session['reason']}" if session["reason"] else "")

    def expect_state(self, state, account="work"):
        found = await_that("the credential is read", lambda: self.state(account).replace("hydrating", ""))
        expect(found == state, f"the session is {found}, not {state}: {self.session(account)}")

    def sign_in(self, refresh_token, account="work"):
        self.hearthctl("login", account, "--refresh-token-stdin", stdin=refresh_token + "\n")
        self.expect_state("authenticated", account)

    def stored(self, account="work"):
        """The content of the credential file."""
        return json.loads((self.folder / "state" / "credentials" / f"{account}.json").read_text())

    def stored_refresh_token(self, account="work"):
        return self.stored(account)["grant"]["refreshToken"]

    # The API

    def call(self, provider, token):
        """Calls the provider's API with the token. Returns the status."""
        headers = {"Authorization": f"Bearer {token}"}
        return signin.open_url(provider.url + "/api/me", headers=headers)[0]

    def expect_no_secret_in_the_log(self):
        if self.daemon is None:
            return
        log = (self.folder / "daemon.log").read_text()
        for provider in self.providers:
            for token in provider.secrets():
                expect(token not in log, f"the token {fingerprint(token)} is in the daemon's log")


def oidc(provider, **keys):
    """An account that uses discovery."""
    return {
        "type": "oidc", "issuer": provider.issuer, "client_id": "hearth", "scopes": ["openid", "notes"],
        "api_origins": [provider.url],
    } | keys


def oauth2(provider, **keys):
    """An account that names its endpoints."""
    return {
        "type": "oauth2", "client_id": "hearth", "scopes": ["openid", "notes"], "api_origins": [provider.url],
        "token_endpoint": provider.issuer + "/token/", "revocation_endpoint": provider.issuer + "/revoke_token/",
        "userinfo_endpoint": provider.issuer + "/userinfo/",
    } | keys
