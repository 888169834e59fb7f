"""google_client.py FILE: has google-auth exchange the token of an executable, and prints the access token it gets."""

import sys

from google.auth.exceptions import GoogleAuthError
from google.auth.pluggable import Credentials
from google.auth.transport.requests import Request

# google.auth.default would ask Google for the name of the project.
credentials = Credentials.from_file(sys.argv[1], scopes=["https://www.googleapis.com/auth/cloud-platform"])
try:
    credentials.refresh(Request())
except GoogleAuthError as error:
    sys.exit(f"google-auth: {error}")
print(credentials.token)
