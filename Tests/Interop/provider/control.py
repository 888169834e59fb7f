"""Calls for checks, which set up clients and troubles while the provider runs. They accept and return JSON."""

import json

from django.http import JsonResponse
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.models import Application

import troubles


@csrf_exempt
def client(request):
    """Registers a client: {"client_id", "redirect_uri", "client_secret"?, "grant_type"?}.

    With a secret, the client is confidential. It has one grant type, which is "authorization-code" by default.
    """
    wanted = json.loads(request.body)
    secret = wanted.get("client_secret", "")
    Application.objects.create(
        name=wanted["client_id"],
        client_id=wanted["client_id"],
        client_secret=secret,
        hash_client_secret=False,
        client_type=Application.CLIENT_CONFIDENTIAL if secret else Application.CLIENT_PUBLIC,
        authorization_grant_type=wanted.get("grant_type") or Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=wanted["redirect_uri"],
        # Required for the scope "openid".
        algorithm=Application.RS256_ALGORITHM,
    )
    return JsonResponse({})


@csrf_exempt
def trouble(request):
    """Sets some troubles and leaves the others unchanged."""
    troubles.change(**json.loads(request.body))
    return JsonResponse(troubles.now)
