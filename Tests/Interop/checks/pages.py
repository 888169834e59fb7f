"""The documentation pages: a reader types each of their commands, and gets the output that they show."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from checks import check
from checks.helpers import GitServer
from internet import Internet
from programs import ETC
from sandbox import Sandbox
from stage import LIMIT, await_that, expect

ROOT = ETC.parent
PAGES = [ROOT / "README.md", *sorted((ETC / "docs").glob("*.md"))]

# Commands that are not run here, by their beginning, with what tests them instead.
ELSEWHERE = {
    "make demo": "the check demo compares the output",
    "make test": "it would run all tests",
    "make build": "the programs are already built",
    "make install": "InstalledHelpTests",
    "systemctl --user": "make check-systemd, which has a systemd",
    "sudo ": "it would change this machine",
    "journalctl ": "make check-systemd, which has a journal",
    "timedatectl": "it depends on the machine's clock",
    "export OIDC_SOCK=": "the check oidc-agent",
    "oidc-token ": "the check oidc-agent",
}
# Commands that run until Ctrl-C, which is pressed after the first output.
ENDLESS = ["hearthctl status --watch", "hearthctl top", "hearthctl events"]
# Commands that ask on a terminal, with their questions and the answers to type.
TYPED = {
    "hearthctl account add ada@example.com": [("Register Hearth", "y"), ("Sign in now?", "y")],
    "hearthctl protect work --with passphrase": [("New passphrase", "open"), ("Repeat", "open")],
}
# The allowed exit statuses of commands that may not exit with 0.
STATUS = {"hearthctl unlock work": {0, 3}}
# Substitutes for other programs, which check what they get from Hearth.
STAND_INS = {
    "gh": 'test -n "$GITHUB_TOKEN"',
    "scp": 'cp "$1" elsewhere.jsonl',
    "ssh": 'shift; exec "$@"',
    "http": """file=${2#Authorization:@}; grep -q '^Bearer [^ ]*$' "$file" """,
    "aria2c": "grep -q '^ header=Authorization: Bearer '",
    "socat": """exec python3 -c '
import socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
line.sendall(sys.stdin.buffer.read())
print(line.makefile().readline(), end="")' "${4#UNIX-CONNECT:}" """,
}
# The first line of the README's block with the demo's output.
DEMO = "$ hearthctl login demo\n"
# The width of a very narrow terminal.
COLUMNS = 40
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def blocks(page, kind="console"):
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(), re.M | re.S)


def commands(page):
    """The commands of a page, each with the output that the page shows."""
    for block in blocks(page):
        if block.startswith(DEMO):
            continue
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.splitlines()
            end = next(index for index, line in enumerate(lines) if not line.endswith("\\")) + 1
            yield "\n".join(lines[:end]), lines[end:]


class Reader:
    """A person with a home folder, a daemon, and the Internet."""

    def __init__(self, stage, name, internet):
        self.stage, self.home = stage, stage.folder / name
        for folder in ("bin", "run", "diary"):
            (self.home / folder).mkdir(parents=True, mode=0o700)
        for name, script in STAND_INS.items():
            (self.home / "bin" / name).write_text(f"#!/bin/bash\n{script}\n")
            (self.home / "bin" / name).chmod(0o700)
        for secret in ("google", "github"):
            (self.home / f"{secret}.secret").write_text("secret\n")
            (self.home / f"{secret}.secret").chmod(0o600)
        (self.home / "film.mkv").write_bytes(bytes(100_000))
        (self.home / "diary" / "monday").write_text("Rain.\n")
        (self.home / "Makefile").write_text('release:\n\ttest -s "$$HEARTH_TOKEN_FILE"\n')
        stage.socket = str(self.home / "run" / "hearth" / "rpc.sock")
        self.environment = {
            name: value for name, value in stage.environment.items()
            if not name.startswith(("HEARTH_", "XDG_", "SSH_")) and name not in ("DISPLAY", "WAYLAND_DISPLAY")
        } | {
            "PATH": os.pathsep.join(map(str, [self.home / "bin", stage.programs, stage.environment["PATH"]])),
            "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home / "run"), "HEARTH_SOCKET": stage.socket,
            "HTTPS_PROXY": internet.url, "BROWSER_PROXY": internet.url, "SSL_CERT_FILE": str(internet.authority),
            "CURL_CA_BUNDLE": str(internet.authority), "GIT_SSL_CAINFO": str(internet.authority),
            "BROWSER": str(ETC / "demo" / "browser.py"), "TERM": "xterm", "GIT_CONFIG_NOSYSTEM": "1",
        }
        stage.environment = self.environment
        stage.daemon, _ = stage.start("daemon", [stage.programs / "hearthd"], env=self.environment)
        await_that("the daemon answers", lambda: stage.run("rpc", "daemon.getInfo").returncode == 0)

    def accounts(self):
        return [session["account"] for session in self.stage.rpc("session.list")["sessions"]]

    def prepare(self, command):
        """Prepares what the command needs: the account "work", signed in, unless the command itself does that."""
        added = re.match(r"hearthctl account add (\S+)", command)
        if added:
            # Several commands add an account of this name.
            name = added[1].partition("@")[2].partition(".")[0] or added[1]
            if name in self.accounts():
                self.stage.hearthctl("account", "remove", name, "--yes")
            return
        if "work" not in self.accounts():
            self.stage.hearthctl(
                "account", "add", "work", "--issuer", "https://id.example.com", "--client-id", "hearth",
                "--api-origin", "https://api.example.com")
        if not command.startswith(("hearthctl unlock", "hearthctl login")):
            if self.stage.run("status", "work").returncode == 4:
                self.stage.hearthctl("unlock", "work")
            if self.stage.run("status", "work").returncode == 3:
                self.stage.hearthctl("login", "work")
        if command.startswith("hearthctl which"):
            self.choose_accounts()
        if command == "hearthctl outbox show ID":
            self.item = self.stage.hearthctl("outbox", "add", "work", "POST", "https://api.example.com/notes").split()[0]

    def choose_accounts(self):
        """Puts the rules that the page shows before the command into the configuration."""
        rules = next(block for block in blocks(ETC / "docs" / "terminal.md", "toml") if "[[use]]" in block)
        top, _, rest = rules.partition("\n\n")
        file = self.home / ".config" / "hearth" / "config.toml"
        file.write_text(f"{top}\n{file.read_text()}\n{rest}")
        self.stage.hearthctl("reload")

    def type(self, command):
        """Runs the command in a shell and returns its output."""
        self.prepare(command)
        line = command.replace("show ID", f"show {getattr(self, 'item', '')}")
        if command in TYPED or command in ENDLESS:
            status, said = self.at_a_terminal(line, TYPED.get(command), command in ENDLESS)
        else:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line], cwd=self.home, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=2 * LIMIT)
            status, said = done.returncode, done.stdout
        wanted = {130} if command in ENDLESS else STATUS.get(command, {0})
        expect(status in wanted, f'"{command}" exited with {status} instead of {wanted}: {said.strip()}')
        return said

    def at_a_terminal(self, line, answers, is_endless):
        """Runs the command on a terminal. Types each answer after its question, or Ctrl-C after the first output."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.home)
            os.execvpe("bash", ["bash", "-c", f"exec {line}"], self.environment)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
        said, answers, deadline = "", list(answers or []), time.monotonic() + 2 * LIMIT
        try:
            while True:
                expect(time.monotonic() < deadline, f'"{line}" has not ended. Its last output: {said[-500:]}')
                if select.select([terminal], [], [], 0.1)[0]:
                    try:
                        piece = os.read(terminal, 65536).decode(errors="replace")
                    except OSError:
                        piece = ""
                    if not piece:
                        break
                    said += piece
                if answers and answers[0][0] in said:
                    os.write(terminal, answers.pop(0)[1].encode() + b"\n")
                elif is_endless and said.strip():
                    os.write(terminal, b"\x03")
                    is_endless = False
                elif is_endless:
                    # Causes an event, so that there is something to show.
                    self.stage.run("refresh", "work")
            for text in re.findall(r"\r\x1b\[K([^\r\n]*)", said):
                expect(len(text) < COLUMNS, f'"{line}" shows a line that wraps and cannot be overwritten: {text}')
            return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), ANSI.sub("", said)
        except BaseException:
            os.kill(process, signal.SIGKILL)
            raise
        finally:
            os.close(terminal)


def expect_shown(lines, said, where):
    """The output contains these lines in this order. Numbers, identifiers and times may differ; `…` matches
    anything."""
    def plain(text):
        return re.sub(r"[0-9a-f]+(-[0-9a-f]+){4}|\b[0-9a-f]{8}\b|\d+", "0", text).strip().replace("'", "")

    rest = [plain(line) for line in said.splitlines()]
    for line in filter(None, map(str.strip, lines)):
        pattern = re.escape(plain(line)).replace("…", ".*")
        place = next((index for index, found in enumerate(rest) if re.fullmatch(pattern, found)), None)
        expect(place is not None, f"{where} shows a line that is not printed, or not at this place: {line}\n{said}")
        rest = rest[place + 1:]


@check("pages")
def pages(stage):
    """Runs each command of README.md and the pages, with only a signed-in account as preparation, and compares the
    output. Commands in ELSEWHERE are left out."""
    run, listed = 0, set()
    sandbox = Sandbox(stage)
    stage.providers.append(sandbox)
    subprocess.run(["git", "init", "-q", "--bare", stage.folder / "repositories" / "notes.git"], check=True)
    git = GitServer(
        stage.folder / "repositories", lambda *given: given[1] == stage.run("token", "work").stdout.strip())
    internet = Internet(stage.folder, sandbox, {"git.example.com": git.url})
    for page in PAGES:
        reader = None
        for command, shown in commands(page):
            elsewhere = next((beginning for beginning in ELSEWHERE if command.startswith(beginning)), None)
            if elsewhere:
                listed.add(elsewhere)
                continue
            reader = reader or Reader(stage, page.stem.lower(), internet)
            expect_shown(shown, reader.type(command), f"{page.name}, {command}")
            run += 1
        if reader:
            stage.end_daemon()
            stage.expect_no_secret_in_the_log()
    unused = set(ELSEWHERE) - listed
    expect(not unused, f"no page has these commands any more. Remove them from ELSEWHERE: {sorted(unused)}")
    return f"{run} commands were run, {len(listed)} kinds are tested elsewhere"


@check("demo")
def demo(stage):
    """Compares the README's output of "make demo" with what it prints."""
    done = subprocess.run(
        [ETC / "demo" / "demo.sh", stage.programs], env=stage.environment, capture_output=True, text=True)
    expect(done.returncode == 0, f"the demo ended with {done.returncode}: {done.stdout}{done.stderr}")
    shown = [block for block in blocks(ROOT / "README.md") if block.startswith(DEMO)]
    expect(len(shown) == 1, "the README does not show the demo")
    lines = shown[0].splitlines()
    expect_shown(lines, done.stdout, "README.md")
    return f"the {len(lines)} lines in the README are printed"
