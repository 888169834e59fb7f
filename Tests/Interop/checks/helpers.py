"""What other programs ask Hearth for a token, with the programs themselves."""

import base64
import http.server
import os
import shutil
import subprocess
import threading

from checks import check
from stage import expect, oidc


class GitServer:
    """A git server on loopback (git-http-backend) for those who have the token that `password` gives."""

    def __init__(self, folder, password):
        self.authorizations = authorizations = []
        root = str(folder)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def log_message(self, *_):
                pass

            def answer(self):
                sent = self.headers.get("Authorization", "")
                authorizations.append(sent)
                wanted = password and "Basic " + base64.b64encode(f"oauth2:{password()}".encode()).decode()
                if wanted and sent != wanted:
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


@check("helpers")
def helpers(stage):
    """git clones over HTTP from a server that is one of the api_origins; a submodule from elsewhere gets nothing."""
    provider = stage.provider()
    provider.client()
    git = shutil.which("git")
    expect(git, "there is no git")
    home = stage.folder / "home"
    home.mkdir()
    environment = stage.environment | {
        "HOME": str(home), "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "HEARTH_SOCKET": stage.socket,
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
    }

    def run(*words, status=0):
        done = subprocess.run([git, *map(str, words)], env=environment, cwd=home, capture_output=True, text=True)
        expect((done.returncode == 0) == (status == 0), f"git {words}: {done.stderr}")
        return done.stderr

    def repository(folder):
        run("init", "-q", folder)
        (folder / "note").write_text("one\n")
        run("-C", folder, "add", "note")
        run("-C", folder, "commit", "-qm", "One")

    ours = GitServer(stage.folder / "ours", lambda: stage.run("token", "work").stdout.strip())
    others = GitServer(stage.folder / "others", None)
    repository(stage.folder / "others" / "lib")
    repository(stage.folder / "ours" / "notes")
    run("-C", stage.folder / "ours" / "notes", "-c", "protocol.file.allow=always", "submodule", "add", "-q",
        others.url + "/lib/.git", "lib")
    run("-C", stage.folder / "ours" / "notes", "commit", "-qm", "Two")

    stage.configure({"work": oidc(provider, api_origins=[provider.url, ours.url])})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    run("config", "--global", "credential.helper", f"!{stage.programs / 'hearthctl'} credential git")
    run("clone", "-q", "--recurse-submodules", ours.url + "/notes/.git", "clone")
    expect((home / "clone" / "note").exists() and (home / "clone" / "lib" / "note").exists(), "not everything was cloned")
    expect(any(ours.authorizations), "our server was sent no token")
    expect(not any(others.authorizations), "the other server was sent something")

    # Asked for a password, the other server gets none either.
    closed = GitServer(stage.folder / "others", lambda: "never")
    said = run("clone", "-q", closed.url + "/lib/.git", "closed", status=1)
    expect(not any(closed.authorizations), "a server that is none of the api_origins was sent something")
    expect("could not read Username" in said, said)

    stage.hearthctl("lock")
    said = run("-C", home / "clone", "fetch", "-q", status=1)
    expect("Locked" in said, said)
    stage.hearthctl("unlock")
    run("-C", home / "clone", "fetch", "-q")
    version = subprocess.run([git, "--version"], capture_output=True, text=True).stdout.split()[-1]
    return f"git {version} cloned with a token, {len(ours.authorizations)} requests; others got nothing"
