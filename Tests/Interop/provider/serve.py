"""serve.py prepare | serve.py PORT: creates an empty site in $INTEROP_FOLDER, or serves that site on loopback."""

import os
import signal
import socketserver
import sys

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
os.umask(0o077)

import django  # noqa: E402
from django.conf import settings  # noqa: E402


def prepare():
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from django.contrib.auth.models import User
    from django.core.management import call_command

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    settings.KEY_FILE.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    call_command("migrate", verbosity=0)
    User.objects.create_user("ada", password="analytical")


def serve(port):
    from django.core.servers.basehttp import WSGIRequestHandler, WSGIServer
    from django.core.wsgi import get_wsgi_application

    from troubles import Troubled

    class Server(socketserver.ThreadingMixIn, WSGIServer):
        daemon_threads = True
        request_queue_size = 64

    class Handler(WSGIRequestHandler):
        def get_environ(self):
            return super().get_environ() | {"interop.handler": self}

        def log_message(self, *_):
            """Logs nothing, because calls.jsonl has more."""

    server = Server(("127.0.0.1", port), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    settings.OAUTH2_PROVIDER |= {
        "OAUTH_DEVICE_VERIFICATION_URI": f"{url}/o/device/",
        "OAUTH_DEVICE_VERIFICATION_URI_COMPLETE": lambda user_code: f"{url}/o/device/?user_code={user_code}",
    }
    server.set_app(Troubled(get_wsgi_application()))
    print(f"listening on {url}", flush=True)
    server.serve_forever()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
django.setup()
if sys.argv[1] == "prepare":
    prepare()
else:
    serve(int(sys.argv[1]))
