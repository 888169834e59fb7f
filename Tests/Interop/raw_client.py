"""raw_client.py ISSUER CLIENT_ID [PORT [SCOPE]]: signs in without Hearth, to check that the provider works.

An independent client: it gets a code with PKCE through the demo's scripted browser and a redirect to loopback, and
checks the ID token.
"""

import base64
import hashlib
import http.server
import json
import os
import secrets
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import signin

BROWSER = Path(__file__).parents[2] / "etc" / "demo" / "browser.py"


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Callback(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.came_back.append(self.path)
        page = b"<!DOCTYPE html><title>Done</title><p>You are signed in, you can close this window."
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        """Logs nothing, because a line would contain the code."""


def discover(issuer):
    status, body, _ = signin.open_url(issuer.rstrip("/") + "/.well-known/openid-configuration")
    if status != 200:
        raise AssertionError(f"discovery answered {status}: {body[:300]}")
    return json.loads(body)


def browse(url, user="ada", password="analytical", decision="allow"):
    """Opens the address in the scripted browser. Returns its exit status and output."""
    done = subprocess.run(
        [sys.executable, str(BROWSER), url],
        env=os.environ | {"BROWSER_USER": user, "BROWSER_PASSWORD": password, "BROWSER_DECISION": decision},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def sign_in(issuer, client_id, port=0, scope="openid", **person):
    """Signs in. Returns the parameters of the redirect, the token endpoint's answer and the nonce."""
    metadata = discover(issuer)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Callback)
    server.came_back = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    verifier, state, nonce = (secrets.token_urlsafe(48) for _ in range(3))
    redirect_uri = f"http://127.0.0.1:{server.server_port}/callback"
    question = urlencode(
        {
            "response_type": "code", "client_id": client_id, "redirect_uri": redirect_uri, "scope": scope,
            "state": state, "nonce": nonce, "code_challenge_method": "S256",
            "code_challenge": base64url(hashlib.sha256(verifier.encode()).digest()),
        }
    )
    try:
        status, said = browse(metadata["authorization_endpoint"] + "?" + question, **person)
    finally:
        server.shutdown()
        server.server_close()
    if status != 0 or len(server.came_back) != 1:
        raise AssertionError(f"the browser exited with {status} after {len(server.came_back)} redirects: {said}")
    told = {name: values[0] for name, values in parse_qs(urlsplit(server.came_back[0]).query).items()}
    if told.get("state") != state:
        raise AssertionError("the state is wrong")
    if metadata.get("authorization_response_iss_parameter_supported") and told.get("iss") != metadata["issuer"]:
        raise AssertionError(f"the answer is from {told.get('iss')}, not from {metadata['issuer']}")
    if "code" not in told:
        return told, None, nonce
    fields = {
        "grant_type": "authorization_code", "code": told["code"], "redirect_uri": redirect_uri,
        "code_verifier": verifier, "client_id": client_id,
    }
    status, body, _ = signin.open_url(metadata["token_endpoint"], fields)
    if status != 200:
        raise AssertionError(f"the code was refused: {status} {body[:300]}")
    return told, json.loads(body), nonce


def claims(id_token, issuer, client_id, nonce):
    """The claims of an ID token, whose signature, issuer, audience and nonce it checks (OpenID Connect Core,
    3.1.3.7)."""
    from jwcrypto import jwk, jwt

    metadata = discover(issuer)
    _, keys, _ = signin.open_url(metadata["jwks_uri"])
    token = jwt.JWT(jwt=id_token, key=jwk.JWKSet.from_json(keys), algs=["RS256", "ES256", "EdDSA"])
    found = json.loads(token.claims)
    audience = found["aud"] if isinstance(found["aud"], list) else [found["aud"]]
    if found["iss"] != metadata["issuer"] or client_id not in audience or found.get("nonce") != nonce:
        raise AssertionError(f"the ID token is not for this sign-in: {found}")
    return found


def main():
    issuer, client_id = sys.argv[1:3]
    port, scope = int((sys.argv[3:4] or ["0"])[0]), (sys.argv[4:5] or ["openid"])[0]
    told, grant, nonce = sign_in(issuer, client_id, port, scope)
    print("redirected with", ", ".join(sorted(told)))
    print("granted", {name: value for name, value in grant.items() if "token" not in name}, "with", sorted(grant))
    print("ID token", claims(grant["id_token"], issuer, client_id, nonce))


if __name__ == "__main__":
    main()
