"""Kinds of accounts and clients: discovery or named endpoints, public and confidential clients."""

from checks import check
from stage import expect, oauth2, oidc


def expect_user(stage, subject, issuer, when):
    session = stage.session()
    found = (session["state"], session["subject"], session["issuer"])
    expect(found == ("authenticated", subject, issuer), f"{when} the session is {found}: {session}")


def subject_of(provider):
    [(key,)] = provider.rows("SELECT id FROM auth_user WHERE username = 'ada'")
    return str(key)


def expect_nothing_revoked(stage, provider):
    revocations = provider.calls("/o/revoke_token/")
    expect(not revocations, f"Hearth has revoked its own grant: {revocations}")
    expect(provider.holds_refresh_token(stage.stored_refresh_token()), "the stored token is not the provider's newest")


@check("issuer-discovered")
def issuer_discovered(stage):
    """Discovery, userinfo and the ID token of each refresh name the same user."""
    provider = stage.provider()
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    for number in range(3):
        expect_user(stage, subject_of(provider), provider.issuer, f"after refresh {number}")
        stage.hearthctl("refresh", "work")
    expect_nothing_revoked(stage, provider)
    return f"{subject_of(provider)} at {provider.issuer} throughout"


@check("issuer-named")
def issuer_named(stage):
    """With named endpoints, the issuer is unknown until the first ID token. The user stays the same."""
    provider = stage.provider()
    provider.client()
    stage.configure({"work": oauth2(provider), "late": oauth2(provider)})
    stage.start_daemon()
    grant = provider.grant()
    expect(provider.issuer != provider.url, "the issuer equals its origin, so this check would show nothing")
    # Without the ID token, Hearth learns the user from userinfo, which names no issuer.
    stage.rpc(
        "session.import", account="work", refreshToken=grant["refresh_token"], accessToken=grant["access_token"],
        expiresIn=grant["expires_in"],
    )
    session = stage.session()
    expect(session["subject"] == subject_of(provider), f"userinfo was not asked: {session}")
    for number in range(1, 4):
        stage.hearthctl("refresh", "work")
        expect_user(stage, subject_of(provider), provider.issuer, f"after refresh {number}")
    expect_nothing_revoked(stage, provider)
    expect(stage.call(provider, stage.hearthctl("token", "work")) == 200, "the API rejects the token")
    # The same with an ID token in the first answer.
    stage.sign_in(provider.grant()["refresh_token"], "late")
    stage.hearthctl("refresh", "late")
    stage.expect_state("authenticated", "late")
    return f"{subject_of(provider)} got the issuer {provider.issuer}, and the session continued"


@check("client-auth")
def client_auth(stage):
    """The client authenticates as discovery asks, or with HTTP Basic by default, also to revoke."""
    secret = "a secret: with + and % and more"
    secret_file = stage.folder / "client.secret"
    secret_file.write_text(secret + "\n")
    secret_file.chmod(0o600)
    keys = {"client_secret_file": str(secret_file)}
    # The methods that each discovery document offers.
    both, post = (
        stage.provider(name, OIDC_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED=methods)
        for name, methods in [("both", ["client_secret_post", "client_secret_basic"]), ("post", ["client_secret_post"])]
    )
    both.client("public")
    for provider in (both, post):
        provider.client("confidential", client_secret=secret)
    cases = {
        "public": (both, "none", oidc(both, client_id="public")),
        "basic": (both, "basic", oidc(both, client_id="confidential", **keys)),
        "post": (post, "post", oidc(post, client_id="confidential", **keys)),
        "named": (both, "basic", oauth2(both, client_id="confidential", **keys)),
    }
    stage.configure({account: table for account, (_, _, table) in cases.items()})
    stage.start_daemon()
    for account, (provider, auth, table) in cases.items():
        grant = provider.grant(table["client_id"], None if auth == "none" else secret)
        mark = len(provider.calls())
        stage.sign_in(grant["refresh_token"], account)
        stage.hearthctl("refresh", account)
        wanted = {("/o/token/", auth, table["client_id"], 200)}
        if account == "named":
            stage.hearthctl("logout", account)
            wanted.add(("/o/revoke_token/", auth, table["client_id"], 200))
        used = {
            (call["path"], call["auth"], call["client"], call["status"])
            for call in provider.calls()[mark:]
            if "auth" in call
        }
        expect(used == wanted, f"\"{account}\" used {used} instead of {wanted}")
    log = (stage.folder / "daemon.log").read_text()
    expect(secret not in log, "the client's secret is in the daemon's log")
    return "public, client_secret_basic and client_secret_post, as discovery asks"
