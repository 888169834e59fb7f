#!/usr/bin/env python3
"""browser.py URL: acts as a person with a browser, for a demo or a test: logs in, consents, and prints the last page.

It can be set as $BROWSER. The URL is that of an authorization request or of the page for entering a device code.
Environment, with defaults: BROWSER_USER (ada), BROWSER_PASSWORD (password), BROWSER_DECISION (allow; or deny),
BROWSER_PROXY (proxy for https; none).
"""

import html.parser
import http.cookiejar
import os
import re
import sys
import urllib.error
import urllib.request
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

MOST_PAGES = 12
MOST_BYTES = 1 << 20
NO = re.compile(r"deny|cancel|reject|decline|abort|^no$|refuse", re.IGNORECASE)
YES = re.compile(r"allow|authori[sz]e|approve|accept|confirm|grant|^yes$", re.IGNORECASE)


class Trouble(Exception):
    """The sign-in failed. The message is a sentence."""


class Form:
    def __init__(self, attributes):
        self.action = attributes.get("action") or ""
        self.method = (attributes.get("method") or "get").lower()
        self.fields = []
        self.buttons = []

    @property
    def asks_for_password(self):
        return any(field.get("type") == "password" for field in self.fields)

    def button(self, decision):
        """Returns the button to accept or decline, recognized by its text, or None if the form has no such button."""
        wanted = YES if decision == "allow" else NO
        for button in self.buttons:
            if any(wanted.search(button.get(part) or "") for part in ("name", "value", "text")):
                return button
        return None

    def filled_in(self, user, password, decision):
        """Returns the fields to send: their current values, the user name and password, and the pressed button."""
        sent = []
        for field in self.fields:
            name, kind, value = field.get("name"), field.get("type", "text"), field.get("value") or ""
            if not name or kind in ("checkbox", "radio") and "checked" not in field:
                continue
            if kind == "password":
                value = password
            elif kind in ("text", "email") and re.search("user|login|name|email", name, re.I) and "code" not in name:
                value = user
            elif kind in ("checkbox", "radio"):
                value = value or "on"
            sent.append((name, value))
        pressed = self.button(decision) or next((each for each in self.buttons if not NO.search(str(each))), None)
        if pressed and pressed.get("name"):
            sent.append((pressed["name"], pressed.get("value") or ""))
        return sent


class Page(html.parser.HTMLParser):
    """The forms of a page, and its text."""

    UNSEEN = {"head", "style", "script", "template"}
    BLOCKS = {"p", "h1", "h2", "h3", "li", "div", "br", "form", "label", "section", "main", "title", "ul", "tr"}

    def __init__(self, source):
        super().__init__()
        self.forms, self.words = [], []
        self.unseen, self.form, self.pressed = 0, None, None
        self.feed(source)
        self.close()

    @property
    def text(self):
        lines = (" ".join(line.split()) for line in "".join(self.words).splitlines())
        return "\n".join(line for line in lines if line)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag in self.UNSEEN:
            self.unseen += 1
        if tag in self.BLOCKS:
            self.words.append("\n")
        if tag == "form":
            self.form = Form(found)
            self.forms.append(self.form)
        if self.form is None:
            return
        kind = (found.get("type") or ("submit" if tag == "button" else "text")).lower()
        if tag == "input" and kind not in ("submit", "image", "button", "reset"):
            self.form.fields.append(found | {"type": kind})
        elif tag in ("input", "button") and kind == "submit":
            self.form.buttons.append(found | {"text": ""})
            self.pressed = self.form.buttons[-1] if tag == "button" else None

    def handle_endtag(self, tag):
        if tag in self.UNSEEN:
            self.unseen = max(0, self.unseen - 1)
        if tag in self.BLOCKS:
            self.words.append("\n")
        if tag == "button":
            self.pressed = None
        if tag == "form":
            self.form = None

    def handle_data(self, data):
        if self.pressed is not None:
            self.pressed["text"] += data
        if not self.unseen:
            self.words.append(data)


class Browser:
    def __init__(self, user, password, decision):
        self.user, self.password, self.decision = user, password, decision
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        # Ignores all other proxies in the environment.
        proxy = os.environ.get("BROWSER_PROXY")
        proxies = urllib.request.ProxyHandler({"https": proxy} if proxy else {})
        self.opener = urllib.request.build_opener(proxies, cookies)

    def open(self, url, fields=None):
        """Returns the status, the address after redirects, and the page."""
        data = urlencode(fields).encode() if fields is not None else None
        request = urllib.request.Request(url, data=data, headers={"Accept": "text/html", "Referer": url})
        try:
            answer = self.opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        except OSError as error:
            raise Trouble(f"{without_query(url)} does not answer: {error}.") from None
        with answer:
            text = answer.read(MOST_BYTES).decode(errors="replace")
            is_html = "html" in (answer.headers.get("Content-Type") or "")
            return answer.status, answer.url, Page(text) if is_html else Page(f"<p>{html.escape(text)}</p>")

    def sign_in(self, url):
        """Signs in and returns the text of the last page."""
        provider, question = origin(url), parse_qs(urlsplit(url).query)
        has_to_return = "response_type" in question or "request_uri" in question
        status, url, page = self.open(url)
        logins = 0
        for _ in range(MOST_PAGES):
            if origin(url) != provider or not page.forms:
                return self.end(status, url, page, has_to_return and origin(url) == provider)
            form = next((form for form in page.forms if form.asks_for_password), None)
            form = form or next((form for form in page.forms if form.button("allow")), page.forms[0])
            logins += form.asks_for_password
            if logins > 1:
                raise Trouble(f"The login failed: {shortened(page.text)}")
            if status >= 400:
                raise Trouble(f"The provider answers {status}: {shortened(page.text)}")
            target, fields = urljoin(url, form.action), form.filled_in(self.user, self.password, self.decision)
            if form.method == "post":
                status, url, page = self.open(target, fields)
            else:
                status, url, page = self.open(target.split("?")[0] + "?" + urlencode(fields))
        raise Trouble(f"The provider keeps asking. The last page says: {shortened(page.text)}")

    @staticmethod
    def end(status, url, page, is_stuck):
        if is_stuck:
            raise Trouble(f"The provider does not send the browser back. Its page says: {shortened(page.text)}")
        if status >= 400:
            raise Trouble(f"{without_query(url)} answers {status}: {shortened(page.text)}")
        return page.text


def origin(url):
    return urlsplit(url)[:2]


def without_query(url):
    """Returns the address without its query and fragment, which may contain a code."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def shortened(text):
    return " ".join(text.split())[:500]


def main():
    if len(sys.argv) != 2 or urlsplit(sys.argv[1]).scheme not in ("http", "https"):
        print(f"usage: {sys.argv[0]} http://...", file=sys.stderr)
        return 64
    environment = os.environ.get
    browser = Browser(
        environment("BROWSER_USER", "ada"), environment("BROWSER_PASSWORD", "password"),
        environment("BROWSER_DECISION", "allow"),
    )
    try:
        print(browser.sign_in(sys.argv[1]))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
