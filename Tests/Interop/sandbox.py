"""The sandbox, for checks: hearth-sandbox, which does on request what no real provider does."""

import json

import signin


class Sandbox:
    name = "sandbox"

    def __init__(self, stage, *options):
        _, self.url = stage.start(
            self.name, [stage.programs / "hearth-sandbox", *options], until="listening on ", env=stage.environment
        )
        self.issuer = self.url

    def post(self, path, /, **value):
        return self._call(path, body=json.dumps(value).encode())

    def grant(self, **whose):
        """A grant without a sign-in: the token endpoint's answer."""
        return self._call("/__grant", body=json.dumps(whose).encode())

    def fault(self, **fault):
        """Sets a fault for the next request that it applies to."""
        self.post("/__fault", times=1, **fault)

    def faults_left(self):
        """Removes and returns the faults that no request has met."""
        left = self._call("/__fault")["faults"]
        self._call("/__fault", method="DELETE")
        return left

    def calls(self):
        """Returns none, because the sandbox records none."""
        return []

    def secrets(self):
        """Every token and code that it has issued."""
        return set(self._call("/__tokens")["tokens"])

    def _call(self, path, **how):
        status, body, _ = signin.open_url(self.url + path, **how)
        if status != 200:
            raise AssertionError(f"{path} answered {status}: {body[:500]}")
        return json.loads(body)
