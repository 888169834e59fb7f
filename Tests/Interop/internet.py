"""The Internet for the commands of the documentation: every https server that they name is one sandbox."""

import base64
import http.client
import http.server
import json
import re
import ssl
import threading
from urllib.parse import quote, urlsplit

from guarded import Server, certificate

PROVIDERS = {
    # Each host with the prefix of its paths.
    "accounts.google.com": "", "login.microsoftonline.com": "/common/v2.0", "id.example.com": "",
    # Accounts at GitHub name the endpoints, so there is no prefix.
    "github.com": "", "api.github.com": "",
}
APIS = ["api.example.com", "example.com"]
GITHUB = {
    "/login/oauth/authorize": "/authorize", "/login/oauth/access_token": "/token",
    "/login/device/code": "/device_authorization", "/user": "/userinfo",
}
REALM = "/realms/example"


class Internet:
    """A proxy that plays each server it is asked to connect to. `others` maps the hosts that are not the sandbox to
    their addresses. `authority` is the file of the certificate that all the servers use."""

    def __init__(self, folder, sandbox, others):
        self.authority, key = certificate(folder, *PROVIDERS, *APIS, *others)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, key)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            host = None

            def log_message(self, *_):
                pass

            def do_CONNECT(self):
                self.host = self.path.rpartition(":")[0]
                self.send_response(200)
                self.end_headers()
                self.request = context.wrap_socket(self.request, server_side=True)
                self.setup()
                self.close_connection = False

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                question = self.command, self.path, dict(self.headers), body
                if self.host in others:
                    status, fields, content = forward(others[self.host], *question)
                else:
                    status, fields, content = ask(sandbox, self.host, *question)
                self.send_response_only(status)
                for name, value in fields:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_HEAD = do_POST = do_PUT = answer

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def forward(url, method, path, headers, body):
    """Passes a request on to a server. Returns status, header fields and content."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request(method, path, body, headers | {"Host": urlsplit(url).netloc})
    answer = connection.getresponse()
    fields = [field for field in answer.getheaders() if field[0].lower() not in ("content-length", "connection")]
    return answer.status, fields, answer.read()


def ask(sandbox, host, method, path, headers, body):
    """Has the sandbox answer a request in a server's name."""
    prefix = PROVIDERS.get(host, "")
    if path.startswith(REALM):
        prefix = REALM
    path = path.removeprefix(prefix)
    for theirs, ours in GITHUB.items():
        if host.endswith("github.com") and path.partition("?")[0] == theirs:
            path = ours + path.removeprefix(theirs)
    if host == "api.example.com":
        path = "/api" + path
    status, fields, content = forward(sandbox.url, method, path, headers, body)
    # The server of a mail domain names the provider, but is not one itself.
    issuer = "https://id.example.com" if host == "example.com" else f"https://{host}{prefix}"

    def renamed(text):
        return text.replace(sandbox.url, issuer).replace(quote(sandbox.url, safe=""), quote(issuer, safe=""))

    kind = next((value for name, value in fields if name.lower() == "content-type"), "")
    if "json" in kind and host != "api.example.com":
        content = json.dumps(as_issuer(json.loads(content), issuer, renamed)).encode()
    elif "html" in kind:
        content = re.sub('action="/', f'action="{prefix}/', renamed(content.decode())).encode()
    fields = [
        (name, prefix + value if name.lower() == "location" and value.startswith("/") else renamed(value))
        for name, value in fields
    ]
    return status, fields, content


def as_issuer(document, issuer, renamed):
    """The answer in this issuer's name. The document names no keys, so ID tokens from the token endpoint need no
    signature that can be checked (OpenID Connect Core, section 3.1.3.7, rule 6)."""
    document = json.loads(renamed(json.dumps(document)))
    document.pop("jwks_uri", None)
    if "id_token" in document:
        head, claims, signature = document["id_token"].split(".")
        claims = json.loads(base64.urlsafe_b64decode(claims + "=="))
        claims = base64.urlsafe_b64encode(json.dumps(claims | {"iss": issuer}).encode()).decode().rstrip("=")
        document["id_token"] = f"{head}.{claims}.{signature}"
    return document
