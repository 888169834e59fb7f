extension ProviderResponse {
  private static let reference = "https://www.dropbox.com/developers/documentation/http/documentation#oauth2-token"

  static let dropbox: [ProviderResponse] = [
    ProviderResponse(
      "dropbox", .renewed, 200, #"{"access_token":"{access}","expires_in":14400,"token_type":"bearer"}"#,
      means: .grant(rotated: false, seconds: 14400), .documented, reference),
    ProviderResponse(
      "dropbox", .refused, 400,
      #"{"error":"invalid_grant","error_description":"refresh token is invalid or revoked"}"#, means: .ends, .seen,
      "https://github.com/dropbox/dropbox-sdk-dotnet/issues/373"),
    ProviderResponse(
      "dropbox", .refused, 400, #"{"error":"invalid_grant","error_description":"refresh token is malformed"}"#,
      means: .ends, .seen, "https://github.com/boly38/node-mongotools/issues/94"),
    ProviderResponse(
      "dropbox", .client, 400, #"{"error":"invalid_client: Invalid client_id or client_secret"}"#,
      means: .misconfigured, .seen,
      "https://github.com/dropbox/dropbox-sdk-python/pull/544"),
    ProviderResponse(
      "dropbox", .limited, 429, #"{"error":{"reason":{".tag":"too_many_requests"}}}"#, headers: ["Retry-After": "15"],
      means: .unavailable, .documented, "https://developers.dropbox.com/error-handling-guide"),
  ]
}
