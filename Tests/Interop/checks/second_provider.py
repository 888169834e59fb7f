"""The second provider, Canaille, with an imported refresh token."""

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
    """Three refreshes each bring a new refresh token. The user stays the same, and the access token works."""
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
    expect(status == 200 and json.loads(body)["sub"] == "ada", f"the API rejects the token: {status} {body}")


def expect_out(stage, provider):
    """Signing out revokes at the provider. It accepts this only from confidential clients, and Hearth reports the
    result."""
    token = fingerprint(stage.stored_refresh_token())
    told = json.loads(stage.hearthctl("logout", "work", "--json"))
    asked = await_that("Hearth asks the provider to revoke", lambda: provider.calls(path="/oauth/revoke", token=token))
    taken = any(call["status"] == 200 for call in asked)
    expect(told["revoked"] is taken, f"Hearth says revoked: {told['revoked']}, but the provider answered {asked}")
    stage.expect_state("unauthenticated: signedOut")


@check("second-refresh")
def second_refresh(stage):
    """Hearth keeps an imported refresh token alive. The provider refuses a used one with a final error."""
    provider = SecondProvider(stage)
    stage.providers.append(provider)
    stage.configure({"work": second_account(provider)})
    stage.start_daemon()
    _, grant, _ = raw_client.sign_in(provider.issuer, "hearth", provider.redirect_port, scope="openid profile")
    stage.sign_in(grant["refresh_token"])
    expect_kept_alive(stage, provider)
    # A used refresh token cannot be imported again.
    said = stage.hearthctl("login", "work", "--refresh-token-stdin", stdin=grant["refresh_token"] + "\n", status=1)
    expect(stage.state() == "authenticated", f"the earlier session ended: {stage.session()}; hearthctl said: {said}")
    expect_out(stage, provider)
    return "rotated three times; a used token was refused and changed nothing"
