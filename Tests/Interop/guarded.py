"""A server on loopback that answers only requests with the right token."""

import datetime
import http.server
import ipaddress
import ssl
import threading


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Ignores clients that have hung up."""


class Guarded:
    """Answers requests with `answer(method, path, body)`, which returns status, type, body and optionally header
    fields. If a request lacks the Authorization that `wanted()` returns, the answer is 401 with the challenge.
    `certificate` is the files of a certificate and its key; with it, the server uses TLS."""

    def __init__(self, answer, wanted, challenge="Bearer", certificate=None):
        self.authorizations = authorizations = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return self.respond
                raise AttributeError(name)

            def respond(self):
                sent = self.headers.get("Authorization")
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if sent:
                    authorizations.append(sent)
                expected = wanted() if wanted else None
                if expected and sent != expected:
                    status, kind, content, fields = 401, "text/plain", b"No.", {"WWW-Authenticate": challenge}
                else:
                    status, kind, content, *rest = answer(self.command, self.path, body)
                    fields = rest[0] if rest else {}
                self.send_response(status)
                for name, value in (fields | {"Content-Type": kind, "Content-Length": str(len(content))}).items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

        self.server = Server(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"{'https' if certificate else 'http'}://{self.host}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def certificate(folder, *hosts):
    """Makes a self-signed certificate for 127.0.0.1 and these hosts. Returns its file and that of its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now, day = datetime.datetime.now(datetime.timezone.utc), datetime.timedelta(days=1)
    alternative = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), *map(x509.DNSName, hosts)])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
    signed = (
        builder.add_extension(alternative, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return files
