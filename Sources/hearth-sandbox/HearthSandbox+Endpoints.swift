extension HearthSandbox {
  /// The part of `--help` that describes the endpoints.
  static let endpoints = """
    PROVIDER
      GET /.well-known/openid-configuration, GET /jwks, GET /userinfo
      GET /.well-known/webfinger   returns the issuer for any "resource"
      GET /authorize      signs in a user: authorization code with PKCE (S256),
                          redirects to http://127.0.0.1, [::1] or localhost with
                          any port; POST /par pushes the request first
      POST /device_authorization, GET /device
                          signs in a device with a code that the user enters
      POST /token         authorization_code, device_code, refresh_token (rotates;
                          reuse is detected), client_credentials, password
      POST /revoke, POST /introspect, GET /end_session
      POST /register      registers a client (RFC 7591)
      POST /auth/login, POST /auth/refresh
                          accept a password or a refresh_token as JSON

    SIGNING IN
      The login page accepts any user name, which becomes the subject. The password
      is the value of --password. The next page asks for consent. The sandbox issues
      a refresh token if the scope contains "offline_access" or lacks "openid".

    API
      Paths under /api/ accept any method with a bearer token. A request with an
      Idempotency-Key takes effect once. A repeated request gets the first response,
      with the header Idempotency-Replayed: true.
      GET /api/whoami returns the token's subject.

    CONTROL, JSON in and out: curl -d '{"subject":"2482"}' URL/__grant
      POST /__grant       creates a grant without a sign-in: "subject",
                          "scope", "lifetime", "refreshToken": false, "clientID"
      POST /__revoke      revokes the grants of "subject", or all grants
      POST /__expire      makes all access tokens invalid
      POST /__decide      completes a device sign-in: "userCode", "subject";
                          without "subject", denies it
      POST /__rotateKeys  signs with a new key from now on
      GET /__tokens       returns every token and code ever issued, so that you
                          can search logs for them
      GET /__stats        returns the counts so far; DELETE resets them
      POST /__fault       adds a fault for requests whose path begins with
                          "path"; the first match applies
      GET /__fault        returns the remaining faults; DELETE removes them
      POST /__release     answers the held requests and removes the faults
                          with "hold"

    FAULTS
      "method", "times"   only for this method, only for this many requests
      "delay"             waits this many seconds first
      "hold": true        waits for POST /__release first; "held" in /__stats
                          counts the waiting requests. A request whose client
                          disconnects has no effect
      "status", "body", "contentType", "headers", "redirect"
                          the response; {{sent}} in the body stands for the
                          secrets that were sent; if "headers" has an ETag, a
                          matching If-None-Match gets a 304
      "echo": true        the response repeats the secrets that were sent
      "hang": true        never responds
      "drop": true        closes the connection without a response
      "mistake"           the request takes effect with this mistake; "path"
                          may be omitted:
        in ID tokens      wrongNonce, noNonce, algNone, unknownKey,
                          wrongSignature, otherAudience, otherIssuer,
                          otherSubject, otherParty, expiredIDToken, wrongAtHash,
                          noIDToken
        valid but unusual numericSubject (not a string), twoAudiences (with
                          https://api.example.com, and no azp)
        in the redirect   wrongState, noState, wrongIss, noIss, noCode
        as an error       denied (also to a device's poll), replayedCode,
                          expiredDeviceCode, slowDown
      "handle": BOOL      whether the request takes effect; the default is true
                          unless it hangs or gets another response
    """
}
