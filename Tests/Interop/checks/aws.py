"""AWS's SDK exchanges the ID token in a token file for keys, through three rotations, at moto's STS."""

import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import programs
from checks import check
from guarded import Guarded
from sandbox import Sandbox
from stage import expect, oidc

CLIENT = Path(__file__).parents[1] / "aws_client.py"
ROTATIONS = 3


@check("aws")
def aws(stage):
    moto = next(iter(programs.found(stage, "moto_server", "--help")), None)
    if not moto:
        return "skipped: moto is not installed"
    sandbox, file, sent = Sandbox(stage), stage.folder / "work.jwt", []
    stage.providers.append(sandbox)
    stage.configure({"work": oidc(sandbox)})
    stage.start_daemon()
    stage.sign_in(sandbox.grant(subject="ada", scope="openid offline_access")["refresh_token"])
    stage.hearthctl("sink", "add", "work", str(file), "--bearer", "id_token")

    _, moto_url = stage.start(
        "moto", [moto.path, "-H", "127.0.0.1", "-p", "0"], until=" * Running on ", env=stage.environment)

    def forward(_, path, body):
        """Forwards a request to moto, which does not check the token."""
        fields = urllib.parse.parse_qs(body.decode())
        sent.extend(fields.get("WebIdentityToken", []))
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if "WebIdentityToken" not in fields:
            headers["Authorization"] = server.authorizations[-1]
        with urllib.request.urlopen(urllib.request.Request(moto_url + path, body, headers)) as answer:
            return 200, answer.headers["Content-Type"], answer.read()

    server = Guarded(forward, None)
    environment = stage.environment | {
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(file), "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/notes",
        "AWS_ROLE_SESSION_NAME": "ada", "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL_STS": server.url,
        "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
    }
    client = subprocess.Popen(
        [Path(moto.path).parent / "python", CLIENT], env=environment, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE)
    stage.processes.append(client)
    for rotation in range(ROTATIONS + 1):
        print(file=client.stdin, flush=True)
        arn = client.stdout.readline()
        expect(arn.strip().endswith("assumed-role/notes/ada"), f"the SDK has another identity: {arn}")
        grant = stage.stored()["grant"]
        expect(sent[-1] == grant["idToken"] != grant["accessToken"], "the SDK has not sent the current ID token")
        expect(stage.hearthctl("token", "work") == grant["accessToken"], "the account gives APIs another token")
        stage.hearthctl("refresh", "work")
    expect(len(set(sent)) == ROTATIONS + 1, f"the SDK has sent {len(set(sent))} tokens")
    client.stdin.close()
    return f"{ROTATIONS} rotations in one process of boto3"
