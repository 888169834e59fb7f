"""What curl, rclone, docker, skopeo, kubectl and Google's library ask Hearth for, with the programs themselves and the
words of the README. Signed out or locked, each fails by itself, and Hearth says why."""

import base64
import hashlib
import importlib.metadata
import json
import sys
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


def kubernetes(*_):
    return 200, "application/json", b'{"major": "1", "minor": "32", "gitVersion": "v1.32.0"}'


class Scene:
    """An account that is signed in at the sandbox, and may send its token to the servers that are made before `begin`."""

    def __init__(self, stage):
        self.stage, self.servers = stage, []
        self.sandbox = Sandbox(stage)
        stage.providers.append(self.sandbox)
        self.home = stage.folder / "home"
        self.home.mkdir()
        stage.environment["HOME"] = str(self.home)

    def server(self, answer, header=lambda token: f"Bearer {token}", **how):
        server = Guarded(answer, header and (lambda: header(self.token())), **how)
        self.servers.append(server)
        return server

    def begin(self, **keys):
        origins = [self.sandbox.url, *(server.url for server in self.servers)]
        self.stage.configure({"work": oidc(self.sandbox, api_origins=origins) | keys})
        self.stage.start_daemon()
        grant = self.sandbox.grant(subject="ada", scope="openid offline_access")
        self.stage.sign_in(grant["refresh_token"])

    def token(self):
        return self.stage.run("token", "work").stdout.strip()

    def leaked(self, server):
        """It was sent a token; no name and no password, which skopeo sends where it has none, is nothing."""
        sent = [words.split()[-1] for words in server.authorizations if words != "Basic Og=="]
        opened = [base64.b64decode(word + "===", validate=False).decode(errors="replace") for word in sent]
        return any(token in text for token in self.sandbox.secrets() for text in sent + opened)

    def expect_uses(self, name, call, server, others, run_otherwise):
        """The program is answered, with a new token after a refresh too; locked it fails, and so it does where the server
        is none of the api_origins, and then nothing is sent there."""
        for _ in range(2):
            done = call()
            expect(done.returncode == 0, f"{name} ended with {done.returncode}: {done.stdout}{done.stderr}")
            self.stage.hearthctl("refresh", "work")
        expect(len(set(server.authorizations)) == 2, f"{name} has not sent two tokens: {len(server.authorizations)}")
        done = run_otherwise()
        expect(done.returncode != 0, f"{name} went on without a token: {done.stdout}{done.stderr}")
        expect(not self.leaked(others), f"{name} has sent a token where it must not go")
        expect("api_origins" in done.stderr or name in SAY_NOTHING, f"{name} does not say why: {done.stderr}")
        self.stage.hearthctl("lock", "work")
        done = call()
        expect(done.returncode != 0, f"{name} went on while locked: {done.stdout}{done.stderr}")
        expect("Locked. Run" in done.stdout + done.stderr, f"{name} does not say that it is locked: {done.stderr}")
        self.stage.hearthctl("unlock", "work")
        expect(not self.leaked(others), f"{name} has sent a token where it must not go")


# Those that go on without a password, and are refused.
SAY_NOTHING = {"docker", "skopeo"}


@check("other-programs")
def other_programs(stage):
    """Those that are there."""
    scene = Scene(stage)
    tls = certificate(stage.folder)
    api, dav, cluster = scene.server(plain), scene.server(webdav), scene.server(kubernetes, certificate=tls)
    images = scene.server(
        registry, lambda token: "Basic " + base64.b64encode(f"oauth2accesstoken:{token}".encode()).decode(),
        challenge='Basic realm="images"',
        certificate=tls,
    )
    exchanged = []

    def exchange(_, __, body):
        """A token service that exchanges what it is sent (RFC 8693)."""
        exchanged.append(parse_qs(body.decode()))
        answer = {
            "access_token": "exchanged", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "token_type": "Bearer", "expires_in": 3600,
        }
        return 200, "application/json", json.dumps(answer).encode()

    service, other_service = scene.server(exchange, None), Guarded(exchange, None)
    others = Guarded(plain, lambda: "nobody")
    other_cluster = Guarded(kubernetes, lambda: "nobody", certificate=tls)
    other_images = Guarded(registry, lambda: "nobody", challenge='Basic realm="images"', certificate=tls)
    scene.begin()
    seen, skipped = [], []

    def each(name, *version):
        there = programs.found(stage, name, *version)
        if not there:
            skipped.append(name)
        return there

    shell = programs.Program("/bin/sh", programs.environment(stage))
    for curl in each("curl"):
        def call(url):
            return shell.run("-c", f"hearthctl token work --header --for {url} | {curl.path} -fsS -H @- {url}/me")
        scene.expect_uses("curl", lambda: call(api.url), api, others, lambda: call(others.url))
        seen.append("curl")
        break

    for rclone in each("rclone", "version")[:1]:
        def list_files(url):
            configuration = scene.home / "rclone.conf"
            configuration.write_text(
                f"[work]\ntype = webdav\nurl = {url}\nvendor = other\n"
                f"bearer_token_command = hearthctl token work --for {url}\n"
            )
            return rclone.run("--config", configuration, "--retries", "1", "--low-level-retries", "1", "ls", "work:")
        scene.expect_uses("rclone", lambda: list_files(dav.url), dav, others, lambda: list_files(others.url))
        expect("note" in list_files(dav.url).stdout, "rclone does not list the file")
        seen.append(rclone.version("version"))

    folder = scene.home / ".docker"
    folder.mkdir()
    helpers = {images.host: "hearth", other_images.host: "hearth"}
    (folder / "config.json").write_text(json.dumps({"credHelpers": helpers}))
    for docker in each("docker")[:1]:
        def inspect(server):
            return docker.run("manifest", "inspect", f"{server.host}/notes:one", SSL_CERT_FILE=str(tls[0]))
        scene.expect_uses("docker", lambda: inspect(images), images, other_images, lambda: inspect(other_images))
        seen.append(docker.version())
        images.authorizations.clear()

    for skopeo in each("skopeo")[:1]:
        def inspect_raw(server):
            return skopeo.run("inspect", "--raw", f"docker://{server.host}/notes:one", SSL_CERT_FILE=str(tls[0]))
        scene.expect_uses(
            "skopeo", lambda: inspect_raw(images), images, other_images, lambda: inspect_raw(other_images)
        )
        seen.append(skopeo.version())

    for kubectl in each("kubectl", "version", "--client"):
        for version in ("v1", "v1beta1"):
            def ask(server):
                user = {
                    "apiVersion": f"client.authentication.k8s.io/{version}", "command": "hearthctl",
                    "args": ["credential", "kubectl"], "provideClusterInfo": True, "interactiveMode": "Never",
                }
                place = {"server": server.url, "certificate-authority": str(tls[0])}
                kubeconfig = {
                    "apiVersion": "v1", "kind": "Config", "current-context": "work",
                    "clusters": [{"name": "work", "cluster": place}], "users": [{"name": "ada", "user": {"exec": user}}],
                    "contexts": [{"name": "work", "context": {"cluster": "work", "user": "ada"}}],
                }
                file = scene.home / "kubeconfig"
                file.write_text(json.dumps(kubeconfig))
                return kubectl.run("--kubeconfig", file, "get", "--raw", "/version")
            if "invalid apiVersion" in ask(cluster).stderr:
                continue
            cluster.authorizations.clear()
            scene.expect_uses("kubectl", lambda: ask(cluster), cluster, other_cluster, lambda: ask(other_cluster))
            seen.append(f"{kubectl.version('version', '--client', '--short')} {version}")

    def federated(service):
        source = {"executable": {"command": f"hearthctl credential google --for {service.url}", "timeout_millis": 10000}}
        configuration = scene.home / "federation.json"
        configuration.write_text(json.dumps({
            "type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/pools/p",
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "token_url": service.url + "/v1/token", "credential_source": source,
        }))
        python = programs.Program(sys.executable, programs.environment(stage))
        return python.run(GOOGLE, configuration, GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES="1")

    done = federated(service)
    expect(done.returncode == 0 and done.stdout == "exchanged\n", f"google-auth: {done.stdout}{done.stderr}")
    expect(exchanged[0]["subject_token"] == [scene.token()], f"google-auth sent another token: {list(exchanged[0])}")
    done = federated(other_service)
    expect(done.returncode != 0 and "api_origins" in done.stderr, f"google-auth: {done.stdout}{done.stderr}")
    stage.hearthctl("lock", "work")
    done = federated(service)
    expect(done.returncode != 0 and "Locked. Run" in done.stderr, f"google-auth: {done.stdout}{done.stderr}")
    expect(len(exchanged) == 1, "google-auth exchanged more than one token")
    seen.append(f"google-auth {importlib.metadata.version('google-auth')}")

    return ", ".join(seen) + (f"; skipped: {', '.join(skipped)}" if skipped else "")
