"""The second provider, Canaille: what Hearth can do there with a refresh token that a person brought."""

import json

import raw_client
import signin
from checks import check
from second import SecondProvider
from stage import await_that, expect, fingerprint


def second_account(provider, **keys):
    return {
        "type": "oidc", "issuer": provider.issuer, "client_id": "hearth", "scopes": ["openid", "profile"],
        "api_origins": [provider.url],
    } | keys


def expect_kept_alive(stage, provider):
    """Three refreshes, each with a new refresh token; the same user throughout; and the token is good."""
    used = [stage.stored_refresh_token()]
    for number in range(4):
        session = stage.session()
        found = (session["state"], session["subject"], session["issuer"])
        expect(found == ("authenticated", "ada", provider.issuer), f"after refresh {number} it is {found}: {session}")
        if number < 3:
            stage.hearthctl("refresh", "work")
            used.append(stage.stored_refresh_token())
    expect(len(set(used)) == 4, "the refresh token was not rotated each time")
    headers = {"Authorization": "Bearer " + stage.hearthctl("token", "work")}
    status, body, _ = signin.open_url(provider.url + "/oauth/userinfo", headers=headers)
    expect(status == 200 and json.loads(body)["sub"] == "ada", f"the token is not good: {status} {body}")


def expect_out(stage, provider):
    """Signing out tells the provider, which takes this from confidential clients only, and Hearth says so."""
    token = fingerprint(stage.stored_refresh_token())
    told = json.loads(stage.hearthctl("logout", "work", "--json"))
    asked = await_that("the provider is told", lambda: provider.calls(path="/oauth/revoke", token=token))
    taken = any(call["status"] == 200 for call in asked)
    expect(told["revoked"] is taken, f"it says revoked: {told['revoked']}, and the provider answered {asked}")
    stage.expect_state("unauthenticated: signedOut")


@check("second-refresh")
def second_refresh(stage):
    """A refresh token that a person brought is kept alive there; an ended one is refused in words that are final."""
    provider = SecondProvider(stage)
    stage.providers.append(provider)
    stage.configure({"work": second_account(provider)})
    stage.start_daemon()
    _, grant, _ = raw_client.sign_in(provider.issuer, "hearth", provider.redirect_port, scope="openid profile")
    stage.sign_in(grant["refresh_token"])
    expect_kept_alive(stage, provider)
    # What is used up does not come in again.
    said = stage.hearthctl("login", "work", "--refresh-token-stdin", stdin=grant["refresh_token"] + "\n", status=1)
    expect(stage.state() == "authenticated", f"the session before it ended: {stage.session()}; it said: {said}")
    expect_out(stage, provider)
    return "rotated three times; a used token is refused and changes nothing"
