"""Reads lines, and for each asks AWS who it is, after the SDK's keys have run out. For `checks/aws.py`."""

import datetime
import sys

import boto3

session = boto3.Session()
keys = session.get_credentials()
for _ in sys.stdin:
    # The keys of STS last 15 minutes at least. The SDK reads the file again once they are about to expire.
    keys._expiry_time = datetime.datetime.now(datetime.timezone.utc)
    keys._refresh_using.__self__._cache.clear()
    print(session.client("sts").get_caller_identity()["Arn"], flush=True)
