/// The part of `--help` about the endpoints.
enum ControlPage {
  static let text = """
    PROVIDER
      GET /.well-known/openid-configuration, GET /userinfo, POST /revoke
      POST /token: refresh_token (rotates; a reuse is detected),
        client_credentials, password
      POST /auth/login, POST /auth/refresh: the same, for JSON in and out

    API
      Any method under /api/, with a bearer token. An Idempotency-Key takes
      effect once; a repeat gets the first response, Idempotency-Replayed: true.
      GET /api/whoami tells whose the token is.

    CONTROL, JSON in and out: curl -d '{"subject":"2482"}' URL/__grant
      POST /__grant       a first grant, as if signed in: "subject",
                          "scope", "lifetime", "refreshToken": false, "clientID"
      POST /__revoke      ends the grants of "subject", or all
      POST /__expire      makes all access tokens invalid
      GET /__tokens       every token that was ever issued, to search logs for
      GET /__stats        what happened so far; DELETE counts anew
      POST /__fault       adds a fault for requests whose path begins with
                          "path"; the first that matches is applied
      GET /__fault        the faults that are left; DELETE forgets them

    FAULTS
      "method", "times"   for these requests only, for so many
      "delay"             waits for so many seconds first
      "status", "body", "contentType", "headers", "redirect"
                          the response; {{sent}} in the body stands for the
                          secrets that were sent
      "echo": true        the response repeats the secrets that were sent
      "hang": true        never responds
      "drop": true        closes the connection without a response
      "handle": BOOL      whether the request takes effect; the default is true
                          unless it hangs or gets another response
    """
}
