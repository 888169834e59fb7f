"""google_client.py FILE: exchanges the executable's token with google-auth, and prints the access token of the answer."""

import sys

from google.auth.exceptions import GoogleAuthError
from google.auth.pluggable import Credentials
from google.auth.transport.requests import Request

# Not google.auth.default, which asks Google for the name of the project.
credentials = Credentials.from_file(sys.argv[1], scopes=["https://www.googleapis.com/auth/cloud-platform"])
try:
    credentials.refresh(Request())
except GoogleAuthError as error:
    sys.exit(f"google-auth: {error}")
print(credentials.token)
