"""Signs in as a person does: logs in on the provider's page, consents, and exchanges the code (with PKCE) for
tokens."""

import base64
import hashlib
import html.parser
import http.cookiejar
import json
import secrets
import urllib.error
import urllib.request
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

# Nothing listens there, so the browser stops.
REDIRECT_URI = "http://127.0.0.1:9/callback"
# Ignores the proxies in the environment.
NO_PROXY = urllib.request.ProxyHandler({})


def open_url(url, fields=None, headers=None, method=None, body=None, opener=None, timeout=30):
    """Returns the answer's status, body and URL, whatever the status is."""
    data = urlencode(fields).encode() if fields is not None else body
    request = urllib.request.Request(url, data=data, headers=headers or {}, method=method)
    try:
        with (opener or urllib.request.build_opener(NO_PROXY)).open(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode(), answer.url
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode(errors="replace"), answer.url


class Returned(Exception):
    """The provider has sent the browser back to the client."""


class Form(html.parser.HTMLParser):
    """The fields of a page's form with their values, without those of the "Cancel" button."""

    def __init__(self, page):
        super().__init__()
        self.fields = {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        field = dict(attributes)
        if tag == "input" and "name" in field and "value" in field:
            self.fields[field["name"]] = field["value"]


class Browser(urllib.request.HTTPRedirectHandler):
    """A person's browser, with its cookies."""

    def __init__(self, provider_url, user="ada", password="analytical"):
        self.url = provider_url
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(NO_PROXY, cookies, self)
        page = self.get("/login/?next=/o/authorized_tokens/")
        self.submit(page, username=user, password=password)

    def redirect_request(self, request, file, code, message, headers, location):
        if location.startswith(REDIRECT_URI):
            raise Returned(location)
        return super().redirect_request(request, file, code, message, headers, location)

    def get(self, path):
        return self.open(urljoin(self.url, path))

    def submit(self, page, **filled_in):
        text, url = page
        return self.open(url, Form(text).fields | filled_in)

    def open(self, url, fields=None):
        status, text, url = open_url(url, fields, opener=self.opener)
        if status != 200:
            raise AssertionError(f"the provider's page {url} answered {status}: {text[:300]}")
        return text, url


def sign_in(provider_url, client_id, client_secret=None, scope="openid notes"):
    """Logs in, consents, and returns the token endpoint's answer to the code (RFC 6749, 4.1; RFC 7636)."""
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    question = urlencode(
        {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": REDIRECT_URI,
            "scope": scope,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
    )
    browser = Browser(provider_url)
    try:
        consent = browser.get("/o/authorize/?" + question)
        browser.submit(consent, allow="Authorize")
    except Returned as returned:
        told = {name: values[0] for name, values in parse_qs(urlsplit(str(returned)).query).items()}
    else:
        raise AssertionError("the provider did not send the browser back after the consent")
    if told.get("state") != state or "code" not in told:
        raise AssertionError(f"the provider sent the browser back with {told}")
    fields = {
        "grant_type": "authorization_code",
        "code": told["code"],
        "redirect_uri": REDIRECT_URI,
        "code_verifier": verifier,
        "client_id": client_id,
    }
    if client_secret:
        fields["client_secret"] = client_secret
    status, body, _ = open_url(provider_url + "/o/token/", fields)
    if status != 200:
        raise AssertionError(f"the code was refused: {status} {body}")
    return json.loads(body)
