#!/usr/bin/env python3
"""chromium.py URL: opens the address in a real browser and signs in there as a person does. It is called like $BROWSER.

It drives headless Chromium through WebDriver (W3C WebDriver). Environment: BROWSER_USER, BROWSER_PASSWORD,
BROWSER_DECISION (allow or deny), and BROWSER_RESULT, the folder for page.json, which describes the last page, and for
pictures of that page in light and dark.
"""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

DRIVER = shutil.which("chromedriver")
PATIENCE = 60


class Browser:
    """A session with its own browser and a temporary profile."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(
            [DRIVER, f"--port={port}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        arguments = ["--headless=new", "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage"]
        arguments += [f"--user-data-dir={folder}/profile", "--window-size=800,600", "--no-proxy-server"]
        if os.geteuid() == 0:
            # Chromium's sandbox does not work as root.
            arguments.append("--no-sandbox")
        capabilities = {"alwaysMatch": {"goog:chromeOptions": {"args": arguments}}}
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self._ask("POST", "/session", {"capabilities": capabilities})
                break
            except urllib.error.URLError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self.url += "/session/" + answer["sessionId"]

    def _ask(self, method, path, value=None):
        body = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(self.url + path, body, {"Content-Type": "application/json"}, method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE) as response:
            return json.load(response)["value"]

    def open(self, url):
        self._ask("POST", "/url", {"url": url})

    @property
    def address(self):
        return self._ask("GET", "/url")

    @property
    def title(self):
        return self._ask("GET", "/title")

    def find(self, selector):
        found = self._ask("POST", "/elements", {"using": "css selector", "value": selector})
        return [next(iter(element.values())) for element in found]

    def text(self, element):
        return self._ask("GET", f"/element/{element}/text")

    def value(self, element, name):
        return self._ask("GET", f"/element/{element}/attribute/{name}") or ""

    def type(self, element, text):
        self._ask("POST", f"/element/{element}/value", {"text": text})

    def click(self, element):
        self._ask("POST", f"/element/{element}/click", {})

    def picture(self, scheme):
        """A screenshot of the page in this colour scheme."""
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self._ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": media})
        return base64.b64decode(self._ask("GET", "/screenshot"))

    def close(self):
        try:
            self._ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()


def button(browser, decision):
    wanted = r"allow|authori[sz]e|accept|confirm" if decision == "allow" else r"deny|cancel|decline|refuse"
    for element in browser.find("button, input[type=submit]"):
        if re.search(wanted, " ".join([browser.text(element), browser.value(element, "value")]), re.IGNORECASE):
            return element
    return None


def step(browser, user, password, decision):
    """Does what a person would do on the current page. Returns False if there is nothing to do."""
    if not browser.find("form"):
        return False
    [secret] = browser.find("input[type=password]")[:1] or [None]
    if secret:
        browser.type(browser.find("input[type=text], input[type=email]")[0], user)
        # The Enter key sends the form.
        browser.type(secret, password + "\ue007")
    else:
        browser.click(button(browser, decision))
    return True


def sign_in(browser, url, user, password, decision):
    """Goes through the provider's pages until one has no form."""
    browser.open(url)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if not step(browser, user, password, decision):
                return
        except urllib.error.HTTPError as error:
            # The element is gone because the next page is loading (W3C WebDriver, "stale element reference").
            if error.code != 404:
                raise
        time.sleep(0.2)
    raise RuntimeError(f"The sign-in did not end within {PATIENCE} s.")


def browse(url, pictures):
    """Signs in and returns the last page."""
    with tempfile.TemporaryDirectory(prefix="chromium.") as folder:
        browser = Browser(folder)
        try:
            person = (os.environ["BROWSER_USER"], os.environ["BROWSER_PASSWORD"], os.environ["BROWSER_DECISION"])
            sign_in(browser, url, *person)
            for scheme in ("light", "dark"):
                (pictures / f"{scheme}.png").write_bytes(browser.picture(scheme))
            [body] = browser.find("body")
            return {"address": browser.address, "title": browser.title, "text": browser.text(body)}
        finally:
            browser.close()


def main():
    result = Path(os.environ["BROWSER_RESULT"])
    try:
        page = browse(sys.argv[1], result)
    except Exception as error:
        page = {"trouble": repr(error)}
    # Renamed once it is complete, because a check waits for the file.
    (result / "page.part").write_text(json.dumps(page))
    (result / "page.part").rename(result / "page.json")


if __name__ == "__main__":
    main()
