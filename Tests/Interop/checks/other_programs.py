"""curl, HTTPie, aria2, cargo, rclone, docker, skopeo, podman, kubectl and Google's library get tokens from Hearth, as
the documentation shows. While signed out or locked, each fails, and Hearth says why.
"""

import base64
import hashlib
import importlib.metadata
import json
import os
import re
import sys
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs

import programs
from checks import check
from guarded import Guarded, certificate
from sandbox import Sandbox
from stage import expect, oidc

GOOGLE = Path(__file__).parents[1] / "google_client.py"
WEBDAV = """<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">
<D:response><D:href>/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop>
<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
<D:response><D:href>/note</D:href><D:propstat><D:prop><D:getcontentlength>4</D:getcontentlength><D:resourcetype/>
</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"""
IMAGE = b'{"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}'
MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
MANIFEST = {
    "schemaVersion": 2, "mediaType": MANIFEST_TYPE, "layers": [],
    "config": {
        "mediaType": "application/vnd.docker.container.image.v1+json", "size": len(IMAGE),
        "digest": "sha256:" + hashlib.sha256(IMAGE).hexdigest(),
    },
}


def plain(*_):
    return 200, "text/plain", b"one\n"


def webdav(method, *_):
    return (207, "application/xml", WEBDAV.encode()) if method == "PROPFIND" else (200, "text/plain", b"one\n")


def registry(_, path, __):
    version = {"Docker-Distribution-Api-Version": "registry/2.0"}
    if "/manifests/" in path:
        return 200, MANIFEST_TYPE, json.dumps(MANIFEST).encode(), version
    return 200, "application/json", IMAGE if "/blobs/" in path else b"{}", version


def crates(_, path, __):
    """A registry without any crate."""
    if path == "/config.json":
        return 200, "application/json", b'{"dl": "https://dl.example", "auth-required": true}'
    return 404, "text/plain", b""


def kubernetes(*_):
    return 200, "application/json", b'{"major": "1", "minor": "32", "gitVersion": "v1.32.0"}'


def bearer(token):
    return f"Bearer {token}"


def basic(token):
    """The Authorization that docker sends with its helper's answer."""
    return "Basic " + base64.b64encode(f"oauth2accesstoken:{token}".encode()).decode()


class Scene:
    """Signed-in accounts, servers in their api_origins, and for each a similar server that is not in them."""

    def __init__(self, stage):
        self.stage = stage
        self.sandbox = Sandbox(stage)
        stage.providers.append(self.sandbox)
        self.home = stage.folder / "home"
        self.home.mkdir()
        # cargo from rustup needs the toolchains in the real home folder.
        stage.environment.setdefault("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")))
        stage.environment["HOME"] = str(self.home)
        self.certificate, self.key = certificate(stage.folder)
        self.servers, self.others, self.exchanged = {}, {}, []
        self.add("api", plain)
        self.add("dav", webdav)
        self.add("crates", crates, str)
        self.add("cluster", kubernetes, certificate=(self.certificate, self.key))
        self.add("images", registry, basic, 'Basic realm="images"', certificate=(self.certificate, self.key))
        self.add("exchange", self.exchange, None)
        origins = {name: server.url for name, server in self.servers.items()}
        federated = oidc(self.sandbox, api_origins=[origins.pop("exchange")], bearer="id_token")
        stage.configure({"work": oidc(self.sandbox, api_origins=list(origins.values())), "federated": federated})
        stage.start_daemon()
        for account in ("work", "federated"):
            grant = self.sandbox.grant(subject="ada", scope="openid offline_access")
            stage.sign_in(grant["refresh_token"], account)

    def add(self, name, answer, header=bearer, challenge="Bearer", **how):
        wanted = header and (lambda: header(self.token()))
        self.servers[name] = Guarded(answer, wanted, challenge, **how)
        self.others[name] = Guarded(answer, header and (lambda: "nobody"), challenge, **how)

    def exchange(self, _, __, body):
        """A token service that exchanges what it is sent (RFC 8693)."""
        self.exchanged.append(parse_qs(body.decode())["subject_token"])
        answer = {
            "access_token": "exchanged", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "token_type": "Bearer", "expires_in": 3600,
        }
        return 200, "application/json", json.dumps(answer).encode()

    def token(self):
        return self.stage.run("token", "work").stdout.strip()

    def leaked(self, server):
        """Whether the server got a token. skopeo sends an empty name and password if it has none, which does not
        count."""
        sent = [words.split()[-1] for words in server.authorizations if words != "Basic Og=="]
        opened = [base64.b64decode(word + "===", validate=False).decode(errors="replace") for word in sent]
        return any(token in text for token in self.sandbox.secrets() for text in sent + opened)

    def expect_uses(self, program, server, call, account="work", says_why=True):
        """`call` has the program ask a server. It succeeds, also with the new token after a refresh. It fails while the
        account is locked, and for a server outside the api_origins, which gets no token."""
        name, ours, other = program.name, self.servers[server], self.others[server]
        ours.authorizations.clear()
        for _ in range(2):
            done = call(ours)
            expect(done.returncode == 0, f"{name} ended with {done.returncode}: {done.stdout}{done.stderr}")
            self.stage.hearthctl("refresh", account)
        expect(len(set(ours.authorizations)) in (0, 2), f"{name} sent an old token, or none")
        done = call(other)
        expect(done.returncode != 0, f"{name} succeeded without a token: {done.stdout}{done.stderr}")
        expect("api_origins" in done.stderr or not says_why, f"{name} does not say why: {done.stderr}")
        self.stage.hearthctl("lock", account)
        done = call(ours)
        expect(done.returncode != 0, f"{name} succeeded while locked: {done.stdout}{done.stderr}")
        expect("Locked. Run" in done.stdout + done.stderr, f"{name} does not say that it is locked: {done.stderr}")
        self.stage.hearthctl("unlock", account)
        expect(not self.leaked(other), f"{name} sent a token to a server outside the api_origins")


def try_curl(scene, curl):
    shell = programs.Program("/bin/sh", curl.environment)

    def call(server):
        words = f"hearthctl token work --header --for {server.url} | {curl.path} -fsS -H @- {server.url}/me"
        return shell.run("-c", words)

    scene.expect_uses(curl, "api", call)


def try_cargo(scene, cargo):
    package = scene.home / "package"
    (package / "src").mkdir(parents=True)
    (package / "src" / "lib.rs").touch()
    dependency = 'nothing = { version = "1", registry = "work" }'
    (package / "Cargo.toml").write_text(
        f'[package]\nname = "one"\nversion = "0.1.0"\n\n[dependencies]\n{dependency}\n')

    def call(server):
        provider = ["cargo:token-from-stdout", "hearthctl", "token", "work", "--for", server.url]
        done = cargo.run(
            "--config", f'registries.work.index="sparse+{server.url}/"',
            "--config", f"registries.work.credential-provider={json.dumps(provider)}",
            "fetch", "--manifest-path", package / "Cargo.toml")
        # The registry has no crates. This error shows that cargo got in.
        done.returncode = 0 if "no matching package named `nothing`" in done.stderr else 1
        return done

    scene.expect_uses(cargo, "crates", call)


def try_http(scene, http):
    shell = programs.Program("/bin/bash", http.environment)

    def call(server):
        token = f"hearthctl token work --for {server.url}"
        header = f"Authorization:@<(printf 'Bearer %s' \"$({token})\")"
        words = f"{http.path} --ignore-stdin --check-status {server.url}/me {header}"
        return shell.run("-c", words)

    scene.expect_uses(http, "api", call)


def try_aria2(scene, aria2):
    shell = programs.Program("/bin/bash", aria2.environment)

    def call(server):
        token = f"hearthctl token work --header --for {server.url}"
        lines = f"printf '%s\\n header=%s\\n' {server.url}/me \"$({token})\""
        words = f"{lines} | {aria2.path} --allow-overwrite -d {scene.home} -i -"
        return shell.run("-c", words)

    scene.expect_uses(aria2, "api", call)


def try_rclone(scene, rclone):
    file = scene.home / "rclone.conf"

    def call(server):
        keys = {"type": "webdav", "vendor": "other", "url": server.url}
        keys["bearer_token_command"] = f"hearthctl token work --for {server.url}"
        file.write_text("[work]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()))
        return rclone.run("--config", file, "--retries", "1", "--low-level-retries", "1", "ls", "work:")

    scene.expect_uses(rclone, "dav", call)


def try_docker(scene, docker, words=("manifest", "inspect"), prefix="", shows_output=True):
    folder = scene.home / ".docker"
    folder.mkdir(exist_ok=True)
    helpers = {server["images"].host: "hearth" for server in (scene.servers, scene.others)}
    (folder / "config.json").write_text(json.dumps({"credHelpers": helpers}))

    def call(server, **variables):
        certificate = {"SSL_CERT_FILE": str(scene.certificate)}
        return docker.run(*words, f"{prefix}{server.host}/notes:one", **certificate, **variables)

    # Without a password these programs try anonymously, and are refused.
    scene.expect_uses(docker, "images", call, says_why=False)

    # They read errors from the helper's standard output. One agreed sentence is not an error; others are shown.
    quiet = scene.home / "quiet"
    quiet.mkdir(exist_ok=True)
    helper = quiet / "docker-credential-hearth"
    helper.write_text('#!/bin/sh\nexec hearthctl credential docker "$@" 2> /dev/null\n')
    helper.chmod(0o700)
    path = os.pathsep.join([str(quiet), docker.environment["PATH"]])

    def said(server):
        done = call(server, PATH=path)
        expect(done.returncode != 0, f"{docker.name} succeeded without a token: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    other = said(scene.others["images"])
    expect("getting credentials" not in other, f"{docker.name} treats a missing token as an error: {other}")
    scene.stage.hearthctl("lock", "work")
    locked = said(scene.servers["images"])
    expect("Locked. Run" in locked or not shows_output, f"{docker.name} does not show the helper's output: {locked}")
    scene.stage.hearthctl("unlock", "work")


def try_kubectl(scene, kubectl):
    file = scene.home / "kubeconfig"
    spoken = []
    # The cluster comes from kubectl, or from --for, for clients without provideClusterInfo.
    for version, is_told in (("v1", False), ("v1", True), ("v1beta1", False), ("v1beta1", True)):

        def call(server):
            user = {
                "apiVersion": f"client.authentication.k8s.io/{version}", "command": "hearthctl",
                "args": ["credential", "kubectl"] + (["--for", server.url] if is_told else []),
                "provideClusterInfo": not is_told, "interactiveMode": "Never",
            }
            cluster = {"server": server.url, "certificate-authority": str(scene.certificate)}
            kubeconfig = {
                "apiVersion": "v1", "kind": "Config", "current-context": "work",
                "clusters": [{"name": "work", "cluster": cluster}], "users": [{"name": "ada", "user": {"exec": user}}],
                "contexts": [{"name": "work", "context": {"cluster": "work", "user": "ada"}}],
            }
            file.write_text(json.dumps(kubeconfig))
            return kubectl.run("--kubeconfig", file, "get", "--raw", "/version")

        # kubectl before 1.22 has only v1beta1.
        if "invalid apiVersion" not in call(scene.servers["cluster"]).stderr:
            scene.expect_uses(kubectl, "cluster", call)
            spoken.append(version)
    expect(spoken, "kubectl and Hearth have no version of ExecCredential in common")
    return " and ".join(dict.fromkeys(spoken))


def try_google(scene):
    """google-auth, in its own Python process."""
    python = programs.Program(sys.executable, programs.environment(scene.stage))
    python.name = "google-auth"
    file = scene.home / "federation.json"

    def call(server):
        source = {"executable": {"command": f"hearthctl credential google --for {server.url}", "timeout_millis": 10000}}
        configuration = {
            "type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/pools/p",
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "token_url": server.url + "/v1/token", "credential_source": source,
        }
        file.write_text(json.dumps(configuration))
        return python.run(GOOGLE, file, GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES="1")

    scene.expect_uses(python, "exchange", call, "federated")
    tokens = {token for tokens in scene.exchanged for token in tokens}
    expect(len(scene.exchanged) == 2 == len(tokens), "google-auth did not exchange each token once")
    expect(all(token.count(".") == 2 for token in tokens), "google-auth exchanged something other than an ID token")
    return "google-auth " + importlib.metadata.version("google-auth")


# Each program with the arguments that print its version.
PROGRAMS = {
    "curl": (["--version"], try_curl),
    "aria2c": (["--version"], try_aria2),
    "cargo": (["--version"], try_cargo),
    "http": (["--version"], try_http),
    "rclone": (["version"], try_rclone),
    # docker continues without a token whatever its helper says, and shows only standard error.
    "docker": (["--version"], partial(try_docker, shows_output=False)),
    "skopeo": (["--version"], partial(try_docker, words=("inspect", "--raw"), prefix="docker://")),
    "podman": (["--version"], try_docker),
    "kubectl": (["version", "--client"], try_kubectl),
}


@check("other-programs")
def other_programs(stage):
    """Tries each program that is installed or unpacked."""
    scene = Scene(stage)
    seen, skipped = [], []
    for name, (version, try_it) in PROGRAMS.items():
        found = programs.found(stage, name, *version)
        for program in found:
            also = try_it(scene, program)
            number = re.search(r"\d+\.\d+[.\d]*", program.version(*version))
            seen.append(" ".join(filter(None, [name, number and number[0], also])))
        if not found:
            skipped.append(name)
    seen.append(try_google(scene))
    return ", ".join(seen) + (f"; skipped: {', '.join(skipped)}" if skipped else "")
