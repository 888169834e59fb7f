"""oidc-agent's own unchanged clients with hearth-oidc-agent: oidc-token and oidc-add from Debian, a C program with
liboidc-agent, and the Python library."""

import json
import os
import pty
import select
import shutil
import socket
import subprocess

from checks import check
from stage import await_that, expect, oidc


PROGRAM_IN_C = r"""
#include <oidc-agent/api.h>
#include <stdio.h>

int main(int count, char **words) {
  struct token_response response = getTokenResponse(words[1], 30, NULL, "interop");
  char *again = getAccessToken2(words[1], 0, NULL, "interop");
  char *ofIssuer = getAccessTokenForIssuer(words[2], 0, NULL, "interop");
  printf("%s\n%s\n%lu\n%s\n%s\n", response.token, response.issuer, (unsigned long)response.expires_at, again, ofIssuer);
  if (getAccessToken("nobody", 0, NULL) != NULL) return 1;
  printf("%s\n", oidcagent_serror());
  return 0;
}
"""


class Clients:
    def __init__(self, stage):
        self.stage = stage
        self.environment = stage.environment | {"OIDC_SOCK": str(stage.folder / "oidc-agent.sock")}

    def run(self, *words, status=0):
        done = subprocess.run(
            [str(word) for word in words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=60,
        )
        said = done.stdout + done.stderr
        expect(done.returncode == status, f"{words} ended with {done.returncode}: {said}")
        return said.strip()

    def on_terminal(self, *words, answers, status=0):
        """Runs a program on a terminal, and types the next answer at each prompt."""
        process, terminal = pty.fork()
        if process == 0:
            os.execvpe(words[0], words, self.environment)
        said, answers = "", list(answers)
        while select.select([terminal], [], [], 30)[0]:
            try:
                part = os.read(terminal, 4096).decode()
            except OSError:
                break
            said += part
            if ": " in part and answers:
                os.write(terminal, answers.pop(0).encode() + b"\n")
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        expect(ended == status, f"{words} ended with {ended}: {said}")
        return said

    def ask(self, text):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(self.environment["OIDC_SOCK"])
            connection.sendall(text.encode())
            return json.loads(b"".join(iter(lambda: connection.recv(4096), b"")))


def program(clients, provider, token):
    """A C program that is linked with liboidc-agent."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if compiler is None or not os.path.exists("/usr/include/oidc-agent/api.h"):
        return "no C program (liboidc-agent-dev or a C compiler is missing)"
    source = clients.stage.folder / "client.c"
    source.write_text(PROGRAM_IN_C)
    clients.run(compiler, "-o", clients.stage.folder / "client", source, "-loidc-agent")
    lines = clients.run(clients.stage.folder / "client", "work", provider.issuer).splitlines()
    expect(lines[:2] == [token, provider.issuer] and lines[3:5] == [token, token], f"liboidc-agent got {lines}")
    expect(int(lines[2]) > 1_000_000_000, f"liboidc-agent got the expiry {lines[2]}")
    expect(lines[5] == "No account configured with that short name", f"liboidc-agent says {lines[5]}")
    return "a C program"


def library(clients, provider, token):
    """The Python library, in this process."""
    try:
        import liboidcagent
    except ImportError:
        return "no Python library (it is not installed)"
    os.environ["OIDC_SOCK"] = clients.environment["OIDC_SOCK"]
    given = liboidcagent.get_token_response("work", 30, "interop")
    expect(given[:2] == (token, provider.issuer), f"liboidcagent got {given}")
    expect(liboidcagent.get_access_token_by_issuer_url(provider.issuer) == token, "liboidcagent got another token")
    try:
        liboidcagent.get_access_token("nobody")
        expect(False, "liboidcagent got a token of an unknown account")
    except liboidcagent.OidcAgentError as error:
        expect(error.message == "No account configured with that short name", f"liboidcagent says {error}")
    return "liboidcagent"


@check("oidc-agent")
def oidc_agent(stage):
    """Tokens by account and issuer, plain and encrypted; the list of accounts; a lock with a password; refused
    requests."""
    if shutil.which("oidc-token") is None:
        return "skipped: oidc-token (Debian's oidc-agent-cli) is not installed"
    provider = stage.provider()
    provider.client()
    stage.configure({"work": oidc(provider), "spare": oidc(provider)})
    stage.start_daemon()
    clients = Clients(stage)
    agent, _ = stage.start("oidc-agent", [stage.programs / "hearth-oidc-agent", "--socket", stage.socket])
    await_that("the agent listens", lambda: os.path.exists(clients.environment["OIDC_SOCK"]))
    said = clients.run("oidc-token", "work", status=1)
    expect("account not loaded" in said and "hearthctl login work" in said, said)
    stage.sign_in(provider.grant()["refresh_token"])

    token = stage.hearthctl("token", "work")
    expect(clients.run("oidc-token", "work") == token, "oidc-token got another token")
    expect(clients.run("oidc-token", "--time=30", "work") == token, "oidc-token -t got another token")
    everything = clients.run("oidc-token", "--all", "work").splitlines()
    expect(everything[:2] == [token, provider.issuer], f"oidc-token --all got {everything}")
    expect(clients.run("oidc-token", "--issuer", "work") == provider.issuer, "oidc-token -i")
    expect(clients.run("oidc-token", "--expires-at", "work") == everything[2], "oidc-token -e")
    expect(clients.run("oidc-token", "--scope=openid", "--scope=notes", "work") == token, "its own scopes were refused")
    expect("invalid_scope" in clients.run("oidc-token", "--scope=more", "work", status=1), "other scopes were given")
    expect("invalid_target" in clients.run("oidc-token", "--aud=x", "work", status=1), "another audience was given")
    expect("No account configured" in clients.run("oidc-token", "nobody", status=1), "an unknown account has a token")
    plain = clients.ask(json.dumps({"request": "access_token", "account": "work"}))
    expect(plain["status"] == "success" and plain["access_token"] == token, f"a plain request gets {plain['status']}")
    new = clients.run("oidc-token", "--force-new", "work")
    expect(new != token and new == stage.hearthctl("token", "work"), "there is no new token")
    expect(stage.call(provider, new) == 200, "the API rejects the token")

    expect(clients.run("oidc-add", "--loaded").splitlines()[1:] == ["work"], "oidc-add --loaded")
    several = clients.ask(json.dumps({"request": "access_token", "issuer": provider.issuer}))
    expect(several["info"] == "Request one of them by name: spare, work.\n", f"it chose one of several: {several}")
    stage.configure({"work": oidc(provider)})
    stage.rpc("daemon.reload")
    with_libraries = [program(clients, provider, new), library(clients, provider, new)]

    expect("operation forbidden" in str(clients.ask('{"request":"remove_all"}')), "the accounts can be removed")
    (stage.folder / ".oidc-agent").mkdir(mode=0o700)
    said = clients.on_terminal("oidc-add", "--lock", answers=["secret", "secret"])
    expect("success" in said and "Agent locked" in said, said)
    expect("Agent locked" in clients.run("oidc-token", "work", status=1), "a locked agent gave out a token")
    expect("Agent locked" in clients.run("oidc-add", "--loaded", status=1), "a locked agent listed its accounts")
    stage.hearthctl("token", "work", status=4)
    said = clients.on_terminal("oidc-add", "--unlock", answers=["other"], status=1)
    expect("wrong password" in said, said)

    def unlocked():
        answer = clients.ask('{"request":"unlock","password":"secret"}')
        return answer["status"] == "success"

    await_that("the password unlocks", unlocked)
    await_that("there is a token", lambda: stage.run("token", "work").returncode == 0)
    expect(clients.run("oidc-token", "work") == new, "the token has changed after the lock")

    expect(stage.end(agent) == 0, "the agent does not stop on SIGTERM")
    expect(not os.path.exists(clients.environment["OIDC_SOCK"]), "the agent left its socket behind")
    version = clients.run("oidc-token", "--version").split()[-1]
    return f"oidc-token and oidc-add {version}, {' and '.join(with_libraries)}; locked and unlocked"
