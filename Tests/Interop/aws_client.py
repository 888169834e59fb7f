"""For each line of input, lets the SDK's keys expire and asks AWS for the caller's identity. For `checks/aws.py`."""

import datetime
import sys

import boto3

session = boto3.Session()
keys = session.get_credentials()
for _ in sys.stdin:
    # STS keys last at least 15 minutes. The SDK reads the file again shortly before they expire.
    keys._expiry_time = datetime.datetime.now(datetime.timezone.utc)
    keys._refresh_using.__self__._cache.clear()
    print(session.client("sts").get_caller_identity()["Arn"], flush=True)
