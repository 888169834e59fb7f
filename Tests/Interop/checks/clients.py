"""The single-file clients that other programs copy, against the daemon. A small program in each language
(Tests/Interop/clients) makes the calls."""

import json
import queue
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import programs
from checks import check
from sandbox import Sandbox
from stage import LIMIT, expect, oidc

ROTATIONS = 3
CALLERS = Path(__file__).parents[1] / "clients"


def build(stage, name, place):
    """Builds the client with its caller in a folder. Returns the command that runs it, or None if it cannot be
    built."""
    folder = stage.folder / f"client.{name}"
    (folder / place).mkdir(parents=True)
    shutil.copy(programs.ETC / "clients" / f"hearth.{name}", folder / place)
    shutil.copy(CALLERS / f"main.{name}", folder)

    def run(tool, *words):
        found = programs.found(stage, tool, *(["version"] if tool == "go" else ["--version"]))
        if not found:
            return None
        cache = {"GOCACHE": str(programs.UNPACKED.parent / "interop-go"), "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}
        done = subprocess.run(
            [found[0].path, *words], cwd=folder, env=found[0].environment | cache, capture_output=True, text=True)
        expect(done.returncode == 0, f"{tool} does not build it: {done.stdout}{done.stderr}")
        return found[0]

    if name == "py":
        return [sys.executable, folder / "main.py"]
    if name == "go":
        (folder / "go.mod").write_text("module interop\n\ngo 1.18\n")
        return run("go", "vet", "./...") and run("go", "build", "-o", "main", ".") and [folder / "main"]
    node = shutil.which("node")
    bundled = node and run("esbuild", "main.ts", "--bundle", "--platform=node", "--target=node18", "--outfile=main.js")
    return bundled and [node, folder / "main.js"]


class Caller:
    """The running program and what it prints."""

    def __init__(self, stage, command, *words):
        self.process = subprocess.Popen(
            [*command, *words], env=stage.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True)
        stage.processes.append(self.process)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def call(self, *words):
        print(json.dumps(words), file=self.process.stdin, flush=True)
        return self.lines.get(timeout=LIMIT)

    def token(self, url=""):
        return self.call("token", url)

    def expect_refused(self, kind, retryable, url=""):
        answer = self.token(url)
        expect("error" in answer, f"a call that should fail with {kind} succeeded")
        error = answer["error"]
        found = (error["data"].get("kind") or None, error["data"]["retryable"])
        expect(found == (kind, retryable), f"{found} instead of {kind}: {error['message']}")
        return error

    def expect_event(self, method):
        while True:
            event = self.lines.get(timeout=LIMIT)
            if event["method"] == method:
                return event["params"]


def try_client(stage, sandbox, command):
    caller = Caller(stage, command)
    error = caller.expect_refused(None, True)
    expect("hearthd" in error["message"], error["message"])
    stage.start_daemon()
    if stage.state() != "authenticated":
        stage.sign_in(sandbox.grant(subject="ada", scope="openid offline_access")["refresh_token"])
    events = Caller(stage, command, "follow")
    expect(events.expect_event("snapshot")["sessions"][0]["state"] == "authenticated", "the snapshot has no session")
    seen = set()
    for _ in range(ROTATIONS + 1):
        token = caller.token(sandbox.url + "/api/me")
        expect(token["token"] == stage.hearthctl("token", "work"), "the client got another token")
        expect(token["authorization"] == f"Bearer {token['token']}", "an API would not accept this header")
        expect(token["token"] not in token["printed"], "printing reveals the token")
        seen.add(token["token"])
        stage.hearthctl("refresh", "work")
        before = events.expect_event("session.refreshed")["previousFingerprint"]
        expect(before == token["fingerprint"], "another token was refreshed")
    expect(len(seen) == ROTATIONS + 1, "a refresh brought no new token")
    answer = caller.call("request", "GET", sandbox.url + "/api/whoami", "")
    expect(answer["status"] == 200 and "ada" in answer["body"], f"the API answered {answer}")
    token = caller.token()
    expect(caller.call("report") is None, "Hearth refuses a report of a 401")
    expect(caller.token()["fingerprint"] != token["fingerprint"], "there is no new token after a report of a 401")
    caller.expect_refused("originNotAllowed", False, "https://elsewhere.example.com/")
    stage.hearthctl("lock", "work")
    error = caller.expect_refused("locked", True)
    expect(error["data"]["action"] == "unlock" and "Locked" in error["message"], str(error))
    stage.hearthctl("unlock", "work")
    stage.end_daemon()
    caller.expect_refused(None, True)
    stage.start_daemon()
    events.expect_event("snapshot")
    expect(caller.token()["token"] == stage.hearthctl("token", "work"), "the client got another token after a restart")
    stage.end(events.process)
    stage.end_daemon()


@check("clients")
def clients(stage):
    """Each client follows three rotations, sends a request, reports a 401, is refused, and sees events after a
    restart."""
    sandbox = Sandbox(stage)
    stage.providers.append(sandbox)
    stage.configure({"work": oidc(sandbox)})
    seen, skipped = [], []
    for language, name, place in [("Python", "py", ""), ("Go", "go", "hearth"), ("TypeScript", "ts", "")]:
        command = build(stage, name, place)
        if command:
            try_client(stage, sandbox, command)
        (seen if command else skipped).append(language)
    return ", ".join(seen) + (f"; skipped: {', '.join(skipped)}" if skipped else "")
