#!/usr/bin/env python3
"""follow.py ACCOUNT: asks hearthd for a token and prints its events, using only sockets and JSON."""
import json
import os
import socket
import sys

account = sys.argv[1] if len(sys.argv) > 1 else "work"
path = os.environ.get("HEARTH_SOCKET") or os.environ["XDG_RUNTIME_DIR"] + "/hearth/rpc.sock"
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
lines = connection.makefile("rw", encoding="utf-8")


def call(number, method, **params):
    """Sends one JSON object on one line. Answers may arrive out of order, with notifications between them."""
    print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=lines, flush=True)


call(1, "session.getToken", account=account, minValiditySeconds=60)
call(2, "events.subscribe", account=account)
for line in lines:
    message = json.loads(line)
    if "error" in message:  # such as 1002 (sign in again) or 1003 (locked); see error["data"]["retryable"]
        print(f"{message['error']['code']}: {message['error']['message']}", flush=True)
    elif message.get("id") == 1:  # the token itself is result["accessToken"]; do not print it
        print(f"{account}: a token, {message['result']['fingerprint']}, until {message['result']['expiresAt']}", flush=True)
    elif message.get("id") == 2:
        for session in message["result"]["snapshot"]["sessions"]:
            print(f"{session['account']}: {session['state']}. {session['message']}", flush=True)
    elif "method" in message:
        session = message["params"].get("session", {})
        print(message["method"], session.get("state", ""), session.get("message", ""), flush=True)
