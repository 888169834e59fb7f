"""git with Hearth as its credential helper."""

import base64
import http.server
import os
import shutil
import subprocess
import threading
from urllib.parse import quote

import raw_client
from checks import check
from checks.second_provider import second_account
from sandbox import Sandbox
from second import SecondProvider
from stage import expect, oidc


class GitServer:
    """A git server on loopback (git-http-backend). `lets_in(user, password)` decides who may use it; None admits
    everyone."""

    def __init__(self, folder, lets_in):
        # The user name and password of each request that has both. If a URL has a user name, git first sends only that.
        self.sent = sent = []
        root = str(folder)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def log_message(self, *_):
                pass

            def answer(self):
                header = self.headers.get("Authorization", "")
                given = tuple(base64.b64decode(header.removeprefix("Basic ")).decode().split(":", 1))
                if given[-1]:
                    sent.append(given)
                if lets_in and not (header and lets_in(*given)):
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="notes"')
                    self.end_headers()
                    return
                path, _, query = self.path.partition("?")
                environment = os.environ | {
                    "GIT_PROJECT_ROOT": root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                }
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                done = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE)
                head, _, content = done.stdout.partition(b"\r\n\r\n")
                self.send_response(200)
                for line in head.decode().split("\r\n"):
                    name, _, value = line.partition(": ")
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Git:
    """git with its own home folder and hearthctl as its helper."""

    def __init__(self, stage):
        self.path = shutil.which("git")
        expect(self.path, "there is no git")
        self.home = stage.folder / "home"
        self.home.mkdir()
        self.environment = stage.environment | {
            "HOME": str(self.home), "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1",
            "HEARTH_SOCKET": stage.socket, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
        }
        self.add_helper(f"!{stage.programs / 'hearthctl'} credential git")

    def add_helper(self, command):
        self.run("config", "--global", "--add", "credential.helper", command)

    def run(self, *words, status=0):
        """Runs git and returns its standard error."""
        done = subprocess.run(
            [self.path, *map(str, words)], env=self.environment, cwd=self.home, capture_output=True, text=True)
        expect((done.returncode == 0) == (status == 0), f"git {words} ended with {done.returncode}: {done.stderr}")
        return done.stderr

    def repository(self, folder):
        self.run("init", "-q", folder)
        (folder / "note").write_text("one\n")
        self.run("-C", folder, "add", "note")
        self.run("-C", folder, "commit", "-qm", "One")

    @property
    def version(self):
        return subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.split()[2]


@check("helpers")
def helpers(stage):
    """git clones over HTTP from a server in the api_origins. The server of a submodule elsewhere gets no token."""
    provider = stage.provider()
    provider.client()
    git = Git(stage)
    run, home = git.run, git.home
    ours = GitServer(
        stage.folder / "ours", lambda *given: given == ("oauth2", stage.run("token", "work").stdout.strip()))
    others = GitServer(stage.folder / "others", None)
    git.repository(stage.folder / "others" / "lib")
    git.repository(stage.folder / "ours" / "notes")
    run("-C", stage.folder / "ours" / "notes", "-c", "protocol.file.allow=always", "submodule", "add", "-q",
        others.url + "/lib/.git", "lib")
    run("-C", stage.folder / "ours" / "notes", "commit", "-qm", "Two")

    stage.configure({"work": oidc(provider, api_origins=[provider.url, ours.url])})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    run("clone", "-q", "--recurse-submodules", ours.url + "/notes/.git", "clone")
    expect((home / "clone" / "note").exists() and (home / "clone" / "lib" / "note").exists(), "not everything was cloned")
    expect(ours.sent, "our server got no token")
    expect(not others.sent, "the other server got a password")

    # The other server gets no token even if it asks for one.
    closed = GitServer(stage.folder / "others", lambda *_: False)
    said = run("clone", "-q", closed.url + "/lib/.git", "closed", status=1)
    expect(not closed.sent, "a server outside the api_origins got a password")
    expect("could not read Username" in said, said)

    stage.hearthctl("lock")
    said = run("-C", home / "clone", "fetch", "-q", status=1)
    expect("Locked" in said, said)
    stage.hearthctl("unlock")
    run("-C", home / "clone", "fetch", "-q")
    return f"git {git.version} cloned with a token, {len(ours.sent)} requests; others got nothing"


@check("git-accounts")
def git_accounts(stage):
    """Two accounts have git's server. The user in the URL selects the account by its subject, mail address or
    `username`. A locked or signed-out account does not affect the other, and no token is sent under another user's
    name."""
    git, sandbox, second = Git(stage), Sandbox(stage), SecondProvider(stage)
    stage.providers += [sandbox, second]
    tokens = {}
    # "home" comes first. Another helper, after Hearth's, knows only carol.
    owners = dict.fromkeys(["ada", "ada-work", "ada@example.com", "Ada@Example.com"], "work")
    owners |= {"bob": "home", "bob-home": "home"}
    expected = {"carol": "carols"} | owners

    def lets_in(user, password):
        return password == tokens.get(expected.get(user), expected.get(user))

    server = GitServer(stage.folder / "ours", lets_in)
    git.repository(stage.folder / "ours" / "notes")
    asked = stage.folder / "asked"
    git.add_helper(f'!f() {{ [ "$1" != get ] || {{ echo again >> {asked}; echo password=carols; }}; }}; f')
    scopes = ["openid", "profile", "email"]
    stage.configure({
        "home": oidc(sandbox, api_origins=[server.url], username="bob-home"),
        "work": second_account(second, scopes=scopes, api_origins=[server.url], username="ada-work"),
    })
    stage.start_daemon()
    stage.sign_in(sandbox.grant(subject="bob", scope="openid offline_access")["refresh_token"], "home")
    _, grant, _ = raw_client.sign_in(second.issuer, "hearth", second.redirect_port, scope=" ".join(scopes))
    stage.sign_in(grant["refresh_token"], "work")
    tokens |= {account: stage.hearthctl("token", account) for account in ("home", "work")}

    def expect_clone(user, sent, status=0, says="", asks=0):
        """`sent` is the user name that the server gets, or None for none. `asks` is whether the other helper is
        asked."""
        server.sent.clear()
        asked.unlink(missing_ok=True)
        shutil.rmtree(git.home / "clone", ignore_errors=True)
        whose = f"{quote(user, safe='')}@" if user else ""
        said = git.run("clone", "-q", server.url.replace("//", f"//{whose}") + "/notes/.git", "clone", status=status)
        expect(says in said, f"it does not say {says}: {said}")
        names = {name for name, _ in server.sent}
        expect(names == ({sent} if sent else set()), f"for {user}, the server got the names {names}: {said}")
        expect(all(lets_in(*given) for given in server.sent), f"for {user}, the server got another user's token")
        count = len(asked.read_text().splitlines()) if asked.exists() else 0
        expect(bool(count) == bool(asks), f"for {user}, the other helper was asked {count} times")

    for user in owners:
        expect_clone(user, user)
    expect_clone(None, "bob-home")
    expect_clone("carol", "carol", asks=1)
    stage.hearthctl("lock", "home")
    # Hearth's answer for bob's account is final. git asks no other helper.
    expect_clone("bob", None, status=1, says="Locked. Run")
    expect_clone("carol", "carol", asks=1)
    expect_clone("ada-work", "ada-work")
    expect_clone(None, "ada-work")
    stage.hearthctl("unlock", "home")
    stage.hearthctl("logout", "home")
    expect_clone("bob-home", None, status=1, says="You signed out")
    expect_clone("ada@example.com", "ada@example.com")
    expect_clone(None, "ada-work")
    stage.hearthctl("lock", "work")
    expect_clone(None, None, status=1, says="hearthctl")
    return f"git {git.version} cloned with each of {len(owners)} names; no token was sent under another user's name"
