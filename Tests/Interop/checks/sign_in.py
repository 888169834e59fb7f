"""Signing in with the command line (by browser, device code or client credentials), and signing out."""

import json
import shutil
import subprocess
from pathlib import Path

import raw_client
from checks import check
from checks.second_provider import expect_kept_alive, expect_out, second_account
from provider import CLIENT_CREDENTIALS, DEVICE_CODE
from sandbox import Sandbox
from second import SecondProvider
from stage import Failure, await_that, expect, oauth2, oidc

BROWSER = Path(raw_client.BROWSER)
CHROMIUM = Path(__file__).parents[1] / "chromium.py"
# The registered redirect address. The client may use any free port (RFC 8252, section 7.3).
ANY_PORT = "http://127.0.0.1/callback"


def signed_in_by_browser(stage, account="work", **person):
    """Runs `hearthctl login` with the scripted browser as $BROWSER. Returns its output."""
    keys = {"BROWSER": str(BROWSER), "BROWSER_USER": "ada", "BROWSER_PASSWORD": "analytical"} | person
    stage.environment |= keys
    return stage.hearthctl("login", account, "--browser", status=0 if person.get("BROWSER_DECISION") != "deny" else 1)


def begun(stage, *words):
    """Starts `hearthctl login … --json`. Returns the waiting process and its first line."""
    notes = stage.folder / "login.log"
    with open(notes, "w") as file:
        process = subprocess.Popen(
            [stage.programs / "hearthctl", "login", *words, "--json"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file, text=True, env=stage.environment,
            start_new_session=True,
        )
    stage.processes.append(process)
    line = process.stdout.readline()
    try:
        return process, json.loads(line)
    except ValueError:
        said = line + notes.read_text()
        raise Failure(f"\"hearthctl login {' '.join(words)} --json\" says: {said}") from None


def finished(stage, process, status=0):
    """Waits until login ends. Returns its last line, or its messages if it failed."""
    rest, _ = process.communicate(timeout=60)
    said = (stage.folder / "login.log").read_text()
    expect(process.returncode == status, f"hearthctl login ended with {process.returncode}, not {status}: {said}{rest}")
    return json.loads(rest.strip().splitlines()[-1]) if status == 0 else said


def expect_session(stage, subject, issuer, account="work"):
    session = stage.session(account)
    found = (session["state"], session["subject"], session["issuer"], session["signIn"])
    expect(found == ("authenticated", subject, issuer, None), f"the session is {found}: {session}")


def ada(provider):
    [(key,)] = provider.rows("SELECT id FROM auth_user WHERE username = 'ada'")
    return str(key)


def named(provider, **keys):
    """An account with named endpoints, because discovery has no device authorization and no revocation endpoint."""
    return oauth2(
        provider, authorization_endpoint=provider.issuer + "/authorize/",
        device_authorization_endpoint=provider.issuer + "/device-authorization/", **keys,
    )


@check("sign-in-browser")
def sign_in_browser(stage):
    """Signs in through the provider's login and consent pages with $BROWSER, refreshes, and signs out."""
    provider = stage.provider()
    provider.client(redirect_uri=ANY_PORT)
    stage.configure({"work": oidc(provider), "named": named(provider)})
    stage.start_daemon()
    for account in ("work", "named"):
        signed_in_by_browser(stage, account)
        stage.expect_state("authenticated", account)
        [code] = provider.calls("/o/token/", grant="authorization_code", status=200)[-1:]
        expect(code["client"] == "hearth" and code["auth"] == "none", f"the code was redeemed with {code}")
        expect(stage.call(provider, stage.hearthctl("token", account)) == 200, "the API rejects the token")
        stage.hearthctl("refresh", account)
    expect_session(stage, ada(provider), provider.issuer)
    refresh = stage.stored_refresh_token("named")
    told = json.loads(stage.hearthctl("logout", "named", "--json"))
    expect(told["revoked"] is True, f"it does not say that the tokens were revoked: {told}")
    expect(not provider.holds_refresh_token(refresh), "the refresh token is not revoked")
    return "worked with discovery and named endpoints: code redeemed as a public client, refreshed, revoked"


@check("sign-in-denied")
def sign_in_denied(stage):
    """Denying consent is reported, and the earlier session continues."""
    provider = stage.provider()
    provider.client(redirect_uri=ANY_PORT)
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    signed_in_by_browser(stage)
    before = stage.hearthctl("token", "work")
    said = signed_in_by_browser(stage, BROWSER_DECISION="deny")
    expect("denied" in said.lower() or "declined" in said.lower() or "refused" in said.lower(), f"it says: {said}")
    stage.expect_state("authenticated")
    expect(stage.hearthctl("token", "work") == before, "the token has changed")
    return "reported, and the earlier session kept its token"


@check("sign-in-printed")
def sign_in_printed(stage):
    """With --no-browser, hearthctl prints the address, and whoever opens it signs in."""
    provider = stage.provider()
    provider.client(redirect_uri=ANY_PORT)
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    process, first = begun(stage, "work", "--browser", "--no-browser")
    expect(set(first) >= {"signIn", "authorizationUrl"}, f"it says {first}")
    expect(stage.session()["signIn"]["flow"] == "browser", f"the status does not show the sign-in: {stage.session()}")
    status, said = raw_client.browse(first["authorizationUrl"])
    expect(status == 0 and "You are signed in" in said, f"the last page ({status}) says: {said}")
    expect(finished(stage, process)["state"] == "authenticated", "the last line does not say so")
    expect_session(stage, ada(provider), provider.issuer)
    return f"the last page says \"{said.splitlines()[0]}\""


@check("sign-in-device")
def sign_in_device(stage):
    """Signs in with a device's code, which is denied once and then allowed."""
    provider = stage.provider()
    provider.client("device", grant_type=DEVICE_CODE)
    stage.configure({"work": named(provider, client_id="device")})
    stage.start_daemon()

    def decide(decision, status):
        process, first = begun(stage, "work", "--device")
        expect(set(first) >= {"signIn", "verificationUri", "userCode"}, f"it says {first}")
        done, said = raw_client.browse(f"{first['verificationUri']}?user_code={first['userCode']}", decision=decision)
        expect(done == 0, f"the provider's pages say: {said}")
        return finished(stage, process, status)

    decide("deny", 1)
    stage.expect_state("unauthenticated: neverSignedIn")
    decide("allow", 0)
    stage.expect_state("authenticated")
    expect(stage.call(provider, stage.hearthctl("token", "work")) == 200, "the API rejects the token")
    polls = provider.calls("/o/token/", grant=DEVICE_CODE)
    expect(any(poll["error"] == "access_denied" for poll in polls), f"the polls were {polls}")
    return f"denied and allowed, {len(polls)} polls"


@check("sign-in-client-credentials")
def sign_in_client_credentials(stage):
    """The client's own grant, without a user."""
    provider = stage.provider()
    secret = "a secret: with + and %"
    provider.client("robot", client_secret=secret, grant_type=CLIENT_CREDENTIALS)
    file = stage.folder / "client.secret"
    file.write_text(secret)
    file.chmod(0o600)
    stage.configure(
        {
            "work": {
                "type": "client-credentials", "client_id": "robot", "client_secret_file": str(file),
                "scopes": ["notes"], "token_endpoint": provider.issuer + "/token/", "api_origins": [provider.url],
            }
        }
    )
    stage.start_daemon()
    stage.hearthctl("login", "work")
    stage.expect_state("authenticated")
    asked = provider.calls("/o/token/", grant="client_credentials", status=200)
    expect(asked and asked[0]["auth"] == "basic", f"the requests were {asked}")
    return "got a token with HTTP Basic"


@check("second-sign-in")
def second_sign_in(stage):
    """The second provider: code with PKCE and `iss`, rotation, revocation."""
    provider = SecondProvider(stage)
    stage.providers.append(provider)
    stage.configure({"work": second_account(provider, redirect_port=provider.redirect_port)})
    stage.start_daemon()
    said = signed_in_by_browser(stage, BROWSER_DECISION="deny")
    stage.expect_state("unauthenticated: neverSignedIn")
    signed_in_by_browser(stage, BROWSER_DECISION="allow")
    expect_kept_alive(stage, provider)
    expect_out(stage, provider)
    return f"said \"{said.splitlines()[-1]}\"; signed in, rotated three times, and signed out"


@check("sign-in-password")
def sign_in_password(stage):
    """Signs in with a password, which only custom backends still accept, and by browser with an IPv6 redirect
    address."""
    sandbox = Sandbox(stage)
    stage.providers.append(sandbox)
    backend = {"type": "json", "refresh_url": sandbox.url + "/auth/refresh", "login_url": sandbox.url + "/auth/login"}
    six = {"type": "oidc", "issuer": sandbox.issuer, "client_id": "hearth", "redirect_uri": "http://[::1]/callback"}
    stage.configure({"work": backend, "six": six | {"scopes": ["openid", "offline_access"]}})
    stage.start_daemon()
    words = ("login", "work", "--password", "--username", "ada")
    said = stage.hearthctl(*words, stdin="mistyped\n", status=1)
    expect("user name or password" in said and "mistyped" not in said, f"for a wrong password, it says {said}")
    stage.hearthctl(*words, stdin="password\n")
    stage.expect_state("authenticated")
    stage.hearthctl("refresh", "work")
    signed_in_by_browser(stage, "six", BROWSER_PASSWORD="password")
    expect_session(stage, "ada", sandbox.issuer, "six")
    return "a wrong password is reported, the right one works; signed in through [::1]"


@check("sign-in-chromium", by_default=False)
def sign_in_chromium(stage):
    """Allows and denies a sign-in in a real browser. Pictures of the last pages are in .build/interop-pages."""
    expect(shutil.which("chromedriver"), "chromedriver is missing: install chromium and chromium-driver")
    kept = Path(".build/interop-pages").resolve()
    shutil.rmtree(kept, ignore_errors=True)
    provider = stage.provider()
    provider.client(redirect_uri=ANY_PORT)
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()

    def last_page(decision):
        pages = kept / decision
        pages.mkdir(parents=True)
        signed_in_by_browser(stage, BROWSER=str(CHROMIUM), BROWSER_DECISION=decision, BROWSER_RESULT=str(pages))
        # hearthctl does not wait for the browser, which still shows the page.
        await_that("the browser finishes", (pages / "page.json").exists, 60)
        page = json.loads((pages / "page.json").read_text())
        expect("trouble" not in page, f"the browser failed: {page}")
        return page

    denied = last_page("deny")
    expect("not signed in" in denied["text"].lower(), f"the page after denying says: {denied}")
    stage.expect_state("unauthenticated: neverSignedIn")
    allowed = last_page("allow")
    expect("You are signed in" in allowed["text"], f"the page after allowing says: {allowed}")
    expect_session(stage, ada(provider), provider.issuer)
    for page in (denied, allowed):
        expect(page["address"].startswith("http://127.0.0.1:"), f"the last page is {page['address']}")
    return f"\"{denied['text'].splitlines()[0]}\" and \"{allowed['text'].splitlines()[0]}\", pictures in {kept.name}"
