/// The part of `--help` about the endpoints.
enum ControlPage {
  static let text = """
    PROVIDER
      GET /.well-known/openid-configuration, GET /jwks, GET /userinfo
      GET /.well-known/webfinger   names the issuer of any "resource"
      GET /authorize      signs a person in: authorization code with PKCE (S256),
                          back to http://127.0.0.1, [::1] or localhost, any port;
                          POST /par takes the request beforehand
      POST /device_authorization, GET /device
                          signs a device in with a code that a person types
      POST /token         authorization_code, device_code, refresh_token (rotates;
                          a reuse is detected), client_credentials, password
      POST /revoke, POST /introspect, GET /end_session
      POST /register      registers a client (RFC 7591)
      POST /auth/login, POST /auth/refresh: password and refresh_token, for JSON
                          in and out

    SIGNING IN
      On the login page any user name will do, and becomes the subject; the
      password is that of --password. The next page asks for consent. A refresh
      token is for the scope "offline_access", or without "openid".

    API
      Any method under /api/, with a bearer token. An Idempotency-Key takes
      effect once; a repeat gets the first response, Idempotency-Replayed: true.
      GET /api/whoami tells whose the token is.

    CONTROL, JSON in and out: curl -d '{"subject":"2482"}' URL/__grant
      POST /__grant       a first grant, as if signed in: "subject",
                          "scope", "lifetime", "refreshToken": false, "clientID"
      POST /__revoke      ends the grants of "subject", or all
      POST /__expire      makes all access tokens invalid
      POST /__decide      answers for a device: "userCode", "subject"; without
                          "subject" the answer is no
      POST /__rotateKeys  signs with a new key from now on
      GET /__tokens       every token and code that was ever issued, to search
                          logs for
      GET /__stats        what happened so far; DELETE counts anew
      POST /__fault       adds a fault for requests whose path begins with
                          "path"; the first that matches is applied
      GET /__fault        the faults that are left; DELETE forgets them
      POST /__release     answers the requests that are held, and removes the
                          faults with "hold"

    FAULTS
      "method", "times"   for these requests only, for so many
      "delay"             waits for so many seconds first
      "hold": true        waits for POST /__release first; "held" in /__stats
                          counts the requests that wait. One whose client
                          leaves takes no effect
      "status", "body", "contentType", "headers", "redirect"
                          the response; {{sent}} in the body stands for the
                          secrets that were sent; an ETag among the headers
                          answers If-None-Match with 304
      "echo": true        the response repeats the secrets that were sent
      "hang": true        never responds
      "drop": true        closes the connection without a response
      "mistake"           the request takes effect, but wrongly; "path" may be
                          left out:
        in ID tokens      wrongNonce, noNonce, algNone, unknownKey,
                          wrongSignature, otherAudience, otherIssuer,
                          otherSubject, otherParty, expiredIDToken, wrongAtHash,
                          noIDToken
        in another form   numericSubject (35), twoAudiences (with
                          https://api.example.com, and no azp)
        to the client     wrongState, noState, wrongIss, noIss, noCode
        the answer        denied (also to a device's poll), replayedCode,
                          expiredDeviceCode, slowDown
      "handle": BOOL      whether the request takes effect; the default is true
                          unless it hangs or gets another response
    """
}
