"""rpc.discover: a client that knows only the document calls every method."""

import json
import socket
from pathlib import Path

from jsonschema import Draft7Validator
from openrpc import OpenRPC
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from checks import check
from stage import expect, oidc


META_SCHEMA = json.loads((Path(__file__).parent.parent / "openrpc-meta-schema.json").read_text())
# The meta-schema of JSON Schema, to which OpenRPC's meta-schema refers.
SCHEMAS = Registry().with_resource("https://meta.json-schema.tools", Resource(Draft7Validator.META_SCHEMA, DRAFT7))


class Line:
    """A connection to the daemon's socket, with one JSON value per line."""

    def __init__(self, stage):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(stage.socket)
        self.lines = self.socket.makefile("r")
        self.notifications, self.count = [], 0

    def call(self, method, params):
        self.count += 1
        call = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        self.socket.sendall(json.dumps(call).encode() + b"\n")
        while True:
            said = json.loads(self.lines.readline())
            if said.get("id") == self.count:
                return said
            self.notifications.append(said)


class Reader:
    def __init__(self, document):
        for error in Draft7Validator(META_SCHEMA, registry=SCHEMAS).iter_errors(document):
            raise AssertionError(f"The document is not valid OpenRPC: {error.message} at {list(error.absolute_path)}")
        # Another reader must accept it too. It ignores the extension "x-notifications".
        OpenRPC.model_validate(document)
        self.document = document
        for name, schema in document["components"]["schemas"].items():
            Draft7Validator.check_schema(schema)

    def validate(self, value, schema, what):
        whole = {"components": self.document["components"], "allOf": [schema]}
        for error in Draft7Validator(whole).iter_errors(value):
            raise AssertionError(f"{what} is not as described: {error.message} at {list(error.absolute_path)}")

    def simplest(self, schema):
        """A simple value that the schema allows."""
        if "$ref" in schema:
            return self.simplest(self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
        if "enum" in schema:
            return schema["enum"][0]
        if schema["type"] == "object":
            return {name: self.simplest(schema["properties"][name]) for name in schema.get("required", [])}
        if schema["type"] == "array":
            return [self.simplest(schema["items"])]
        return {"string": "work", "integer": schema.get("minimum", 1), "boolean": True}[schema["type"]]


@check("discovery")
def discovery(stage):
    """Calls methods that cause events, then every method, with the simplest parameters that the document allows."""
    provider = stage.provider()
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    line = Line(stage)
    reader = Reader(line.call("rpc.discover", {})["result"])
    described = {method["name"]: method for method in reader.document["methods"]}
    answered = 0

    def ask(name, **given):
        method, params = described[name], dict(given)
        for param in method["params"]:
            if param["required"] and param["name"] not in params:
                params[param["name"]] = reader.simplest(param["schema"])
        for param in method["params"]:
            if param["name"] in params:
                reader.validate(params[param["name"]], param["schema"], f"{param['name']} of {name}")
        answer = line.call(name, params)
        if "result" in answer:
            reader.validate(answer["result"], method["result"]["schema"], f"the answer to {name}")
            return answer["result"]
        code = answer["error"]["code"]
        codes = {error["code"] for error in method.get("errors", [])}
        expect(code in codes | {-32602}, f"{name} is answered with {answer['error']}")
        expect("is not known" not in answer["error"]["message"], f"{name}: {answer['error']}")
        expect("is missing" not in answer["error"]["message"], f"{name}: {answer['error']}")
        return None

    ask("events.subscribe")
    expect(ask("outbox.enqueue", method="POST", url=provider.url + "/api/notes", body="one"), "nothing was queued")
    expect(ask("outbox.flush"), "the outbox was not flushed")
    expect(ask("session.refresh"), "the session was not refreshed")
    ask("session.lock")
    ask("session.unlock")
    # Methods that end the subscription or the session come last.
    last = ["events.unsubscribe", "session.signOut"]
    for name in [name for name in described if name not in last] + last:
        answered += ask(name) is not None
    told = {event["method"] for event in line.notifications}
    events = {event["name"]: event for event in reader.document["x-notifications"]}
    for event in line.notifications:
        for param in events[event["method"]]["params"]:
            if param["required"] or param["name"] in event["params"]:
                reader.validate(event["params"][param["name"]], param["schema"], f"{param['name']} of {event['method']}")
    expect({"session.changed", "session.refreshed", "outbox.delivered"} <= told, f"there were only the events {told}")
    return f"{len(described)} methods called, {answered} gave a result; {len(told)} kinds of events; all as described"
