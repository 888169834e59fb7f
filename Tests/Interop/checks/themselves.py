"""The providers without Hearth: an independent client checks what the other checks rely on."""

import json

import raw_client
import signin
from checks import check
from provider import CLIENT_CREDENTIALS, DEVICE_CODE
from second import SecondProvider
from stage import expect


def expect_rotation(token_endpoint, token, client_id):
    """A refresh token works once and brings another."""
    fields = {"grant_type": "refresh_token", "refresh_token": token, "client_id": client_id}
    status, body, _ = signin.open_url(token_endpoint, fields)
    expect(status == 200 and json.loads(body)["refresh_token"] != token, f"the refresh gets {status}: {body}")
    status, body, _ = signin.open_url(token_endpoint, fields)
    expect(status == 400, f"the token can be used again: {status} {body}")


@check("providers-themselves")
def providers_themselves(stage):
    """Both: code with PKCE through the scripted browser, ID tokens, rotation. The first also: device code and client
    credentials."""
    provider = stage.provider(REFRESH_TOKEN_GRACE_PERIOD_SECONDS=0)
    second = SecondProvider(stage)
    provider.client(redirect_uri="http://127.0.0.1/callback")
    for one, port in ((provider, 0), (second, second.redirect_port)):
        # Deny first, because the second provider does not ask again after a consent.
        told, grant, _ = raw_client.sign_in(one.issuer, "hearth", port, decision="deny")
        expect(told.get("error") == "access_denied" and grant is None, f"denying returns {told}")
        _, grant, nonce = raw_client.sign_in(one.issuer, "hearth", port)
        found = raw_client.claims(grant["id_token"], one.issuer, "hearth", nonce)
        expect(found["sub"], f"the ID token names nobody: {found}")
        expect_rotation(raw_client.discover(one.issuer)["token_endpoint"], grant["refresh_token"], "hearth")

    provider.client("device", grant_type=DEVICE_CODE)
    begun = expect_device(provider)
    provider.client("robot", client_secret="s", grant_type=CLIENT_CREDENTIALS)
    fields = {"grant_type": "client_credentials", "client_id": "robot", "client_secret": "s", "scope": "notes"}
    status, body, _ = signin.open_url(provider.issuer + "/token/", fields)
    expect(status == 200 and "access_token" in json.loads(body), f"client credentials get {status}: {body}")
    return f"code, ID token, rotation and denial at both; device ({begun}) and client credentials at the first"


def expect_device(provider):
    """Allows one device code and denies another. Returns the fields of the token response."""
    fields = {"client_id": "device", "scope": "openid notes"}
    for decision in ("allow", "deny"):
        status, body, _ = signin.open_url(provider.issuer + "/device-authorization/", fields)
        expect(status == 200, f"the device authorization gets {status}: {body[:500]}")
        begun = json.loads(body)
        poll = {"grant_type": DEVICE_CODE, "device_code": begun["device_code"], "client_id": "device"}
        status, body, _ = signin.open_url(provider.issuer + "/token/", poll)
        expect(json.loads(body).get("error") == "authorization_pending", f"a poll gets {status}: {body}")
        status, said = raw_client.browse(begun["verification_uri_complete"], decision=decision)
        expect(status == 0, f"the pages for the code say: {said}")
        status, body, _ = signin.open_url(provider.issuer + "/token/", poll)
        answer = json.loads(body)
        if decision == "allow":
            expect(status == 200 and "access_token" in answer, f"the device gets {status}: {body}")
            granted = answer
        else:
            expect(answer.get("error") == "access_denied", f"the device gets {status}: {body}")
    return ", ".join(sorted(granted))
