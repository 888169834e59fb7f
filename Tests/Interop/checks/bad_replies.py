"""Wrong answers to a sign-in: Hearth reports each in a sentence, and the earlier session continues."""

import signal

import raw_client
from checks import check
from checks.sign_in import begun, finished, signed_in_by_browser
from sandbox import Sandbox
from stage import expect

# Each mistake of the sandbox, with a word that the sentence must contain.
IN_THE_ID_TOKEN = {
    "wrongNonce": "nonce", "noNonce": "nonce", "algNone": "not signed", "unknownKey": "key",
    "wrongSignature": "signature", "otherAudience": "another client", "otherIssuer": "configured issuer",
    "expiredIDToken": "expired", "wrongAtHash": "access token", "noIDToken": "missing",
}
IN_THE_REDIRECT = {
    "wrongIss": "another provider", "noIss": "does not name", "noCode": "neither a code nor an error",
    "denied": "denied",
}
AT_THE_TOKEN_ENDPOINT = {
    "a code that was used before": ({"mistake": "replayedCode"}, "already been used"),
    "no fields": ({"path": "/token", "status": 200, "body": "{}"}, "access token"),
    "a wrong type": (
        {"path": "/token", "status": 200, "body": '{"access_token":5,"token_type":"Bearer"}'}, "access token",
    ),
    "a megabyte of HTML": (
        {"path": "/token", "status": 200, "body": "<p>x</p>" * (1 << 17), "contentType": "text/html"}, "web page",
    ),
    "a redirection": ({"path": "/token", "redirect": "http://127.0.0.1:9/token"}, "redirect"),
    "a server error": ({"path": "/token", "status": 503}, "503"),
    "a code and a secret repeated": ({"path": "/token", "status": 400, "echo": True}, "[redacted]"),
}


def account(sandbox):
    return {
        "type": "oidc", "issuer": sandbox.issuer, "client_id": "hearth", "scopes": ["openid", "offline_access"],
        "api_origins": [sandbox.url],
    }


def begin(stage, *options):
    sandbox = Sandbox(stage, *options)
    stage.providers.append(sandbox)
    stage.configure({"work": account(sandbox)})
    stage.start_daemon()
    stage.environment |= {"BROWSER_PASSWORD": "password"}
    signed_in_by_browser(stage, BROWSER_PASSWORD="password")
    return sandbox


def expect_refused(stage, sandbox, what, fault, word, held):
    """The sign-in fails with one sentence that contains the word, and nothing else changes."""
    sandbox.fault(**fault)
    done = stage.run("login", "work", "--browser", "--timeout", "30")
    left = sandbox.faults_left()
    expect(not left, f"{what}: the sign-in ended before the fault: {done.stderr}")
    said = done.stderr.strip().splitlines()[-1]
    ended = f"{what}: it ended with {done.returncode}: {done.stdout}{said}"
    expect(done.returncode in (1, 5) and not done.stdout, ended)
    expect(word in said and "The sign-in was not completed" not in said, f"{what}: it says {said}")
    expect(len(said) < 600, f"{what}: the message has {len(said)} characters: {said[:600]}")
    for secret in sandbox.secrets():
        expect(secret not in done.stdout + done.stderr, f"{what}: the message contains a secret: {said}")
    expect(stage.hearthctl("token", "work") == held, f"{what}: the token has changed")
    expect(stage.session()["signIn"] is None, f"{what}: the sign-in has not ended: {stage.session()}")
    return said


def expect_passed_over(stage, sandbox, mistake, held):
    """The browser returns with an answer to another sign-in. Ours keeps waiting until the user cancels it."""
    sandbox.fault(mistake=mistake)
    process, first = begun(stage, "work", "--browser", "--no-browser")
    status, said = raw_client.browse(first["authorizationUrl"], password="password")
    expect(not sandbox.faults_left(), f"{mistake}: the browser was never sent back: {said}")
    expect(status == 1 and "You are signed in" not in said, f"{mistake}: the last page ({status}) says {said}")
    expect(process.poll() is None and stage.session()["signIn"], f"{mistake}: the sign-in has ended: {stage.session()}")
    process.send_signal(signal.SIGINT)
    said = finished(stage, process, 130)
    expect("cancelled" in said, f"{mistake}: it says {said}")
    expect(stage.session()["signIn"] is None, f"{mistake}: the sign-in has not ended: {stage.session()}")
    expect(stage.hearthctl("token", "work") == held, f"{mistake}: the token has changed")


@check("bad-replies")
def bad_replies(stage):
    """Wrong answers to a sign-in in the browser."""
    sandbox = begin(stage, "--require-pushed-requests")
    held = stage.hearthctl("token", "work")
    for mistake, word in (IN_THE_ID_TOKEN | IN_THE_REDIRECT).items():
        expect_refused(stage, sandbox, mistake, {"mistake": mistake}, word, held)
    for what, (fault, word) in AT_THE_TOKEN_ENDPOINT.items():
        expect_refused(stage, sandbox, what, fault, word, held)
    for mistake in ("wrongState", "noState"):
        expect_passed_over(stage, sandbox, mistake, held)
    said = stage.hearthctl("login", "work", "--browser", "--no-browser", "--timeout", "1", status=5)
    expect("The sign-in was not completed" in said, f"without anybody it says {said}")
    stage.hearthctl("refresh", "work")
    signed_in_by_browser(stage, BROWSER_PASSWORD="password")
    count = len(IN_THE_ID_TOKEN | IN_THE_REDIRECT) + len(AT_THE_TOKEN_ENDPOINT) + 2
    return f"{count} reported and none used; refreshed and signed in afterwards"


@check("bad-device-replies")
def bad_device_replies(stage):
    """Wrong answers to a sign-in with a device's code, and slow_down, after which it continues."""
    sandbox = begin(stage, "--device-interval", "1")
    held = stage.hearthctl("token", "work")
    for mistake, word in {"denied": "denied", "expiredDeviceCode": "expired"}.items():
        sandbox.fault(mistake=mistake)
        process, _ = begun(stage, "work", "--device")
        said = finished(stage, process, 1)
        expect(word in said, f"{mistake}: it says {said}")
        expect(stage.hearthctl("token", "work") == held, f"{mistake}: the token has changed")
    sandbox.fault(mistake="slowDown")
    process, first = begun(stage, "work", "--device")
    sandbox.post("/__decide", userCode=first["userCode"], subject="ada")
    expect(finished(stage, process)["subject"] == "ada", "the sign-in did not complete after slow_down")
    return "reports a denied and an expired code, and continues after slow_down"
