"""Each tool that `hearthctl helper` sets up, in an empty home folder, through three rotations of the token. If the tool
is not installed, a caller reads its configuration and asks as the tool documents it."""

import json
import re
import shutil
import tomllib

import programs
from checks import check
from guarded import Guarded, certificate
from sandbox import Sandbox
from stage import expect, oidc

ROTATIONS = 3
URL = "https://tools.example.com/"
OTHER = "https://elsewhere.example.com/"
# The tools whose configuration names the account. --for gives their server.
WITH_ACCOUNT = ["pnpm", "claude", "codex", "cargo"]
# The tools that read a file. Other checks run them.
READERS = ["netrc", "aws", "mail"]


class Home:
    """A person's home folder, into which `helper install` writes."""

    def __init__(self, stage):
        self.stage = stage
        self.path = stage.folder / "home"
        self.path.mkdir()
        stage.environment = programs.environment(stage) | {"HOME": str(self.path), "GIT_CONFIG_NOSYSTEM": "1"}
        for name in ("DOCKER_CONFIG", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "NPM_CONFIG_USERCONFIG", "TF_CLI_CONFIG_FILE"):
            stage.environment.pop(name, None)

    def text(self, name):
        return (self.path / name).read_text()

    def run(self, *words, stdin=""):
        path = shutil.which(words[0], path=self.stage.environment["PATH"])
        return programs.Program(path, self.stage.environment).run(*words[1:], stdin=stdin)

    def shell(self, words):
        return self.run("/bin/sh", "-c", words)


def ask_git(home, url):
    done = home.run("git", "credential", "fill", stdin=f"url={url}\n\n")
    return done, dict(line.split("=", 1) for line in done.stdout.splitlines()).get("password")


def ask_docker(home, url):
    host = url.split("/")[2]
    helper = json.loads(home.text(".docker/config.json"))["credHelpers"].get(host, "hearth")
    done = home.run(f"docker-credential-{helper}", "get", stdin=host)
    return done, done.returncode == 0 and json.loads(done.stdout)["Secret"]


def ask_pnpm(home, _):
    """pnpm runs an absolute path without arguments, and uses the whole output as the header (its config/auth)."""
    done = home.run(re.search(r"^//[^:]+:tokenHelper=(/\S+)$", home.text(".npmrc"), re.M)[1])
    return done, done.stdout.strip().removeprefix("Bearer ")


def ask_terraform(home, url):
    helper = re.search(r'^credentials_helper "(\w+)"', home.text(".terraformrc"), re.M)[1]
    path = home.path / ".terraform.d" / "plugins" / f"terraform-credentials-{helper}"
    done = home.run(str(path), "get", url.split("/")[2])
    return done, done.returncode == 0 and json.loads(done.stdout).get("token")


def ask_go(home, url):
    """Go runs the command first without arguments, then with the refused URL and the response
    (cmd/go/internal/auth)."""
    command = re.search(r"^GOAUTH=([^;]+)", home.text(".config/go/env"), re.M)[1].split()
    first = home.run(*command)
    expect((first.returncode, first.stdout) == (0, ""), f"go gets a token without naming a server: {first.stdout}")
    done = home.run(*command, url + "notes/@v/list", stdin="HTTP/2.0 401 Unauthorized\nContent-Length: 0\n\n")
    found = re.fullmatch(r"(https://\S+)\n\nAuthorization: Bearer (\S+)\n\n", done.stdout)
    expect(not found or url.startswith(found[1]), f"go would send the token elsewhere: {done.stdout}")
    return done, found and found[2]


def ask_bazel(home, url):
    host = url.split("/")[2]
    found = re.search(rf"^common --credential_helper={re.escape(host)}=(\S+)$", home.text(".bazelrc"), re.M)
    done = home.run(found[1] if found else "bazel-credential-hearth", "get", stdin=json.dumps({"uri": url + "cas"}))
    if done.returncode:
        return done, None
    answer = json.loads(done.stdout)
    expect(not answer["headers"] or "expires" in answer, "Bazel is not told when the token expires")
    return done, answer["headers"].get("Authorization", [None])[0]


def ask_claude(home, _):
    done = home.shell(json.loads(home.text(".claude/settings.json"))["apiKeyHelper"])
    return done, done.stdout.strip()


def ask_mcp(home, url):
    done = home.shell(f"hearthctl token work --headers json --for {url}")
    return done, done.returncode == 0 and json.loads(done.stdout)["Authorization"]


def ask_codex(home, _):
    auth = tomllib.loads(home.text(".codex/config.toml"))["model_providers"]["hearth-work"]["auth"]
    done = home.run(auth["command"], *auth["args"])
    return done, done.stdout.strip()


def printed(home, name, *account):
    """What `helper install` prints for a tool that is set up by hand."""
    return home.stage.hearthctl("helper", "install", name, *account, "--for", URL)


def ask_kubectl(home, url):
    """kubectl runs the command and passes the cluster only with provideClusterInfo."""
    words = re.findall(r"--exec-(?:command|arg)=(\S+)", printed(home, "kubectl"))
    done = home.run(*(url if word == URL else word for word in words))
    return done, done.returncode == 0 and json.loads(done.stdout)["status"]["token"]


def ask_cargo(home, _):
    """cargo:token-from-stdout runs the rest of the list and sends its output as it is."""
    command = json.loads(re.search(r"credential-provider = (.*)", printed(home, "cargo", "work"))[1])
    done = home.run(*command[1:])
    return done, done.stdout.strip()


CALLERS = {
    "git": ask_git, "docker": ask_docker, "pnpm": ask_pnpm, "terraform": ask_terraform, "go": ask_go,
    "bazel": ask_bazel, "claude": ask_claude, "mcp": ask_mcp, "codex": ask_codex, "kubectl": ask_kubectl,
    "cargo": ask_cargo,
}


def expect_follows(home, name, ask):
    """The tool gets each new token, but none for another server or while the account is locked."""
    stage, seen = home.stage, set()
    for _ in range(ROTATIONS + 1):
        done, given = ask(home, URL)
        token = stage.hearthctl("token", "work")
        is_same = given and given.removeprefix("Bearer ") == token
        expect(is_same, f"{name} does not get the token: {done.stdout}{done.stderr}")
        seen.add(token)
        stage.hearthctl("refresh", "work")
    expect(len(seen) == ROTATIONS + 1, f"{name} saw {len(seen)} tokens")
    if name not in [*WITH_ACCOUNT, "mcp"]:
        # Without a terminal, git cannot prompt and fails.
        done, given = ask(home, OTHER)
        expect(not given, f"{name} gets a token for another server")
    stage.hearthctl("lock", "work")
    done, given = ask(home, URL)
    expect(done.returncode != 0 and not given, f"{name} gets a token while the account is locked")
    expect("Locked. Run" in done.stdout + done.stderr, f"{name} is not told why: {done.stdout}{done.stderr}")
    check = stage.run("helper", "check", name, *(["work"] if name == "mcp" else []), "--for", URL)
    expect(check.returncode == 4 and "Locked" in check.stdout, f"check {name}: {check.returncode} {check.stdout}")
    stage.hearthctl("unlock", "work")


def try_terraform(home, sandbox):
    """Tries terraform itself with a registry that has no modules."""
    found = programs.found(home.stage, "terraform", "version")
    if not found:
        return "terraform itself is not installed"
    files = certificate(home.stage.folder)

    def registry(_, path, __):
        answer = {"modules.v1": "/v1/"} if path == "/.well-known/terraform.json" else {"modules": [{"versions": []}]}
        return 200, "application/json", json.dumps(answer).encode()

    server = Guarded(registry, lambda: "Bearer " + home.stage.hearthctl("token", "work"), certificate=files)
    home.stage.configure({"work": oidc(sandbox, api_origins=[server.url])})
    home.stage.hearthctl("reload")
    source = f'source = "{server.host}/ada/notes/any"'
    (home.path / "main.tf").write_text(f'module "notes" {{\n  {source}\n  version = "1.0.0"\n}}\n')
    variables = {"SSL_CERT_FILE": str(files[0]), "HOME": str(home.path)}
    for _ in range(ROTATIONS + 1):
        done = found[0].run(f"-chdir={home.path}", "init", "-no-color", **variables)
        # The registry has no modules. This error shows that terraform got in.
        expect("no available version" in done.stderr.lower() or "no versions" in done.stderr.lower(), done.stderr)
        home.stage.hearthctl("refresh", "work")
    expect(len(set(server.authorizations)) == ROTATIONS + 1, "terraform did not send each token")
    return "terraform itself too"


@check("rotations")
def rotations(stage):
    home, sandbox = Home(stage), Sandbox(stage)
    stage.providers.append(sandbox)
    stage.configure({"work": oidc(sandbox, api_origins=[URL.rstrip("/")])})
    stage.start_daemon()
    stage.sign_in(sandbox.grant(subject="ada", scope="openid offline_access")["refresh_token"])
    for name, ask in CALLERS.items():
        account = ["work"] if name in WITH_ACCOUNT else []
        stage.hearthctl("helper", "install", name, *account, "--for", URL)
        said = stage.hearthctl("helper", "check", name, "--for", URL)
        expect("Received the token" in said, f"check {name} says: {said}")
        expect_follows(home, name, ask)
    for name in READERS:
        expect("work" in printed(home, name, "work"), f"helper install {name} prints no lines")
    stage.hearthctl("helper", "check", "mail", "work", "--for", URL)
    said = stage.run("helper", "check", "aws", "work", "--for", URL).stderr
    expect("sink list" in said, f"helper check aws says: {said}")
    also = try_terraform(home, sandbox)
    for name in CALLERS:
        stage.hearthctl("helper", "remove", name)
    files = [path for path in home.path.rglob("*") if path.is_file() and path.suffix != ".bak"]
    left = [path.name for path in files if "hearthctl" in path.read_text(errors="replace")]
    expect(not left, f"helper remove left something in {left}")
    return f"{', '.join(CALLERS)} worked through {ROTATIONS} rotations; {also}"
