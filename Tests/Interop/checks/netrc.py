"""Programs that read a netrc file: curl, wget, git without a helper, pip, uv, poetry and requests. Each must work
through three rotations of the token. So must twine, which reads no netrc file and is started by `hearthctl exec`."""

import base64
import hashlib
import io
import json
import sys
import zipfile

import programs
from checks import check
from guarded import Guarded
from sandbox import Sandbox
from stage import expect, oidc

ROTATIONS = 3
THEIRS = '# mine\n\nmachine other.example.com\n  login "ada l"\n  password secret\nmacdef init\ncd /pub\n\n'
PROJECT = """[project]
name = "trial"
version = "1"
requires-python = ">=3.9"
dependencies = ["notes"]
[tool.poetry]
package-mode = false
[[tool.poetry.source]]
name = "work"
url = "%s/simple/"
priority = "primary"
"""


def wheel():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("notes.py", "")
        archive.writestr("notes-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: notes\nVersion: 1.0\n")
        archive.writestr("notes-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("notes-1.0.dist-info/RECORD", "")
    return file.getvalue()


WHEEL, FILE = wheel(), "notes-1.0-py3-none-any.whl"


def index(method, path, _):
    """A package index (PEP 503) with one package, which accepts uploads, and a git repository."""
    path = path.split("?")[0]
    if method == "POST":
        return 200, "text/plain", b""
    if path.endswith("/simple/notes/"):
        digest = hashlib.sha256(WHEEL).hexdigest()
        return 200, "text/html", f'<!DOCTYPE html><a href="/files/{FILE}#sha256={digest}">{FILE}</a>'.encode()
    if path.endswith(FILE):
        return 200, "application/octet-stream", WHEEL
    if path.endswith("/info/refs"):
        return 200, "text/plain", f"{'a' * 40}\trefs/heads/main\n".encode()
    return (200, "text/plain", b"one\n") if path == "/one" else (404, "text/plain", b"")


class Scene:
    def __init__(self, stage):
        self.stage, self.home = stage, stage.folder / "home"
        self.home.mkdir(mode=0o700)
        stage.environment = programs.environment(stage) | {
            "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "PIP_CONFIG_FILE": "/dev/null",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring", "UV_NO_CACHE": "1", "POETRY_CACHE_DIR": str(self.home / "poetry"),
        }
        for name in ("NETRC", "VIRTUAL_ENV", "PIP_FIND_LINKS"):
            stage.environment.pop(name, None)
        self.server = Guarded(index, self.wanted, challenge='Basic realm="index"')
        self.url = self.server.url

    def wanted(self):
        # While the account is locked there is no token.
        words = "oauth2:" + self.stage.run("token", "work").stdout.strip()
        return "Basic " + base64.b64encode(words.encode()).decode()

    def found(self, name, *version):
        return next(iter(programs.found(self.stage, name, *version)), None)

    def callers(self):
        """The command of each installed program, and a word that it prints if the server accepts its login."""
        url = self.url
        curl, wget, git = self.found("curl"), self.found("wget"), self.found("git")
        pip, uv, poetry = self.found("pip"), self.found("uv"), self.found("poetry")
        python = programs.Program(sys.executable, self.stage.environment)
        ask = "import requests, sys; print(requests.get(sys.argv[1]).text)"
        (self.home / "pyproject.toml").write_text(PROJECT % url)
        download = ["download", "--no-input", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--index-url", url + "/simple/"]
        all_callers = {
            "curl": (curl, ["-sSf", "--netrc", url + "/one"], "one"),
            "wget": (wget, ["-qO-", url + "/one"], "one"),
            "git": (git, ["ls-remote", url + "/notes.git"], "refs/heads/main"),
            "pip": (pip, [*download, "-d", self.home / "wheels", "notes"], "Saved"),
            "uv": (uv, ["pip", "compile", "-q", "--index-url", url + "/simple/", "--no-header", "-"], "notes==1.0"),
            "poetry": (poetry, ["lock", "-C", self.home, "--no-cache", "--no-interaction", "--regenerate"], "Resolving dependencies"),
            "requests": (python, ["-c", ask, url + "/one"], "one"),
        }
        return {name: caller for name, caller in all_callers.items() if caller[0]}


def expect_goes_on(scene, name, program, words, said):
    seen = len(set(scene.server.authorizations))
    for _ in range(ROTATIONS + 1):
        done = program.run(*words, stdin="notes\n")
        expect(done.returncode == 0 and said in done.stdout, f"the server refuses {name}: {done.stdout}{done.stderr}")
        for file in (scene.home / "wheels").glob("*"):
            file.unlink()
        scene.stage.hearthctl("refresh", "work")
    count = len(set(scene.server.authorizations)) - seen
    expect(count == ROTATIONS + 1, f"{name} has sent {count} tokens")


def try_twine(scene):
    """twine reads no netrc file. `hearthctl exec` gives it the token."""
    twine = scene.found("twine")
    if not twine:
        return "twine is not installed"
    file = scene.home / FILE
    file.write_bytes(WHEEL)
    upload = ["upload", "--non-interactive", "--disable-progress-bar", "-u", "oauth2", "--repository-url", scene.url + "/legacy/"]
    for _ in range(ROTATIONS + 1):
        scene.stage.hearthctl("exec", "work", "--env", "TWINE_PASSWORD", "--", twine.path, *upload, str(file))
        scene.stage.hearthctl("refresh", "work")
    return twine.version()


@check("netrc")
def netrc(stage):
    scene, sandbox = Scene(stage), Sandbox(stage)
    stage.providers.append(sandbox)
    stage.configure({"work": oidc(sandbox, api_origins=[scene.url]), "other": oidc(sandbox, api_origins=["https://x.example.com"])})
    stage.start_daemon()
    for account, subject in [("work", "ada"), ("other", "bo")]:
        stage.sign_in(sandbox.grant(subject=subject, scope="openid offline_access")["refresh_token"], account)
    file = scene.home / ".netrc"
    file.write_text(THEIRS)
    for account in ("work", "other"):
        said = stage.hearthctl("sink", "add", account, str(file), "--format", "netrc")
        expect("The file contains a token." in said, said)
    check = stage.hearthctl("helper", "check", "netrc", "work", "--for", scene.url)
    expect("Received the token" in check, check)
    callers = scene.callers()
    for name, (program, words, said) in callers.items():
        expect_goes_on(scene, name, program, words, said)
    text = file.read_text()
    expect(text.endswith(THEIRS) and file.stat().st_mode & 0o777 == 0o600, f"other lines have changed: {text}")
    expect(stage.hearthctl("token", "other") in text, "the other account's line is gone")

    # Without a token there is no line, and the server refuses every program.
    stage.hearthctl("lock", "work")
    expect("#hearthd:work" not in file.read_text() and "#hearthd:other" in file.read_text(), "the token is still there")
    for name, (program, words, said) in callers.items():
        done = program.run(*words, stdin="notes\n")
        expect(done.returncode != 0 or said not in done.stdout, f"the server accepts {name} during the lock")
    stage.hearthctl("unlock", "work")
    twine = try_twine(scene)

    # Hearth does not change a file that it cannot parse.
    broken = "machine a\nfoo bar\n" + file.read_text()
    file.write_text(broken)
    stage.hearthctl("refresh", "work")
    expect(file.read_text() == broken, "Hearth changed a file that it cannot parse")
    listed = json.loads(stage.hearthctl("sink", "list", "--json"))["sinks"]
    expect(any("line 2 has an unknown keyword" in (row["error"] or "") for row in listed), f"no reason is given: {listed}")
    file.write_text(THEIRS)
    stage.hearthctl("reload")
    for account in ("work", "other"):
        stage.hearthctl("sink", "remove", account, str(file))
    expect(file.read_text() == THEIRS, "lines of Hearth are left")
    versions = [program.version() for program, _, _ in callers.values()]
    return f"{ROTATIONS} rotations: {', '.join(callers)} ({'; '.join(filter(None, versions))}); {twine}"
