"""The protected API. It requires a bearer token with the scope "notes", and answers 401 without a valid one."""

from django.http import JsonResponse
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.decorators import protected_resource

import calls

known = protected_resource(scopes=["notes"], advertise_metadata=True)
keys_seen = set()


@known
def me(request):
    return JsonResponse({"sub": str(request.resource_owner.pk)})


@csrf_exempt
@known
def notes(request):
    """Stores a note, once for each Idempotency-Key."""
    key = request.headers["Idempotency-Key"]
    is_new = key not in keys_seen
    if is_new:
        keys_seen.add(key)
        calls.record(effect=request.body.decode(), key=key)
    return JsonResponse({"new": is_new})
