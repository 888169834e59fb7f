/// The part of `--help` that describes the endpoints.
enum ControlPage {
  static let text = """
    PROVIDER
      GET /.well-known/openid-configuration, GET /jwks, GET /userinfo
      GET /.well-known/webfinger   names the issuer of any "resource"
      GET /authorize      signs a person in: authorization code with PKCE (S256),
                          back to http://127.0.0.1, [::1] or localhost, any port;
                          POST /par pushes the request first
      POST /device_authorization, GET /device
                          signs a device in with a code that a person types
      POST /token         authorization_code, device_code, refresh_token (rotates;
                          a reuse is detected), client_credentials, password
      POST /revoke, POST /introspect, GET /end_session
      POST /register      registers a client (RFC 7591)
      POST /auth/login, POST /auth/refresh: password and refresh_token, for JSON
                          in and out

    SIGNING IN
      The login page accepts any user name, which becomes the subject; the password
      is that of --password. The next page asks for consent. There is a refresh
      token with the scope "offline_access", or without "openid".

    API
      Any method under /api/, with a bearer token. An Idempotency-Key takes
      effect once; a repeat gets the first response, Idempotency-Replayed: true.
      GET /api/whoami returns the token's subject.

    CONTROL, JSON in and out: curl -d '{"subject":"2482"}' URL/__grant
      POST /__grant       a first grant, as if signed in: "subject",
                          "scope", "lifetime", "refreshToken": false, "clientID"
      POST /__revoke      ends the grants of "subject", or all
      POST /__expire      makes all access tokens invalid
      POST /__decide      answers for a device: "userCode", "subject"; without
                          "subject" the person declines
      POST /__rotateKeys  signs with a new key from now on
      GET /__tokens       every token and code ever issued, to search logs for
      GET /__stats        counts so far; DELETE resets them
      POST /__fault       adds a fault for requests whose path begins with
                          "path"; the first match is applied
      GET /__fault        the remaining faults; DELETE removes them
      POST /__release     answers the held requests and removes the faults
                          with "hold"

    FAULTS
      "method", "times"   only for this method, only for this many requests
      "delay"             waits this many seconds first
      "hold": true        waits for POST /__release first; "held" in /__stats
                          counts the waiting requests. One whose client leaves
                          has no effect
      "status", "body", "contentType", "headers", "redirect"
                          the response; {{sent}} in the body stands for the
                          secrets that were sent; with an ETag header,
                          If-None-Match is answered with 304
      "echo": true        the response repeats the secrets that were sent
      "hang": true        never responds
      "drop": true        closes the connection without a response
      "mistake"           the request takes effect, but wrongly; "path" may be
                          omitted:
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
