"""A Django site that is an OpenID Connect provider, and the API for its tokens. Its folder is $INTEROP_FOLDER."""

import json
import os
from pathlib import Path

FOLDER = Path(os.environ["INTEROP_FOLDER"])
KEY_FILE = FOLDER / "id-token.pem"

SECRET_KEY = "this site lives for a few seconds, on loopback"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "urls"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "/login/"
# A fast hash, because the secrets here need no protection.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "oauth2_provider",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": FOLDER / "provider.sqlite3",
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF",
        },
    }
}
OAUTH2_PROVIDER = {
    "OIDC_ENABLED": True,
    "OIDC_RSA_PRIVATE_KEY": KEY_FILE.read_text() if KEY_FILE.exists() else "",
    "SCOPES": {"openid": "Know who you are", "notes": "Read and write your notes"},
    # By default no token expires during a check.
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
    "DEVICE_FLOW_INTERVAL": 1,
    # The check's own settings: rotation, grace, reuse protection, lifetimes.
    **json.loads(os.environ.get("INTEROP_SETTINGS", "{}")),
}
