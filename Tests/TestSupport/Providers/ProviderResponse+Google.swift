extension ProviderResponse {
  private static let guide = "https://developers.google.com/identity/protocols/oauth2/web-server#offline"

  static let google: [ProviderResponse] = [
    ProviderResponse(
      "google", .renewed, 200,
      #"{"access_token":"{access}","expires_in":3920,"scope":"https://www.googleapis.com/auth/drive.metadata.readonly","token_type":"Bearer"}"#,
      means: .grant(rotated: false, seconds: 3920), .documented, guide),
    ProviderResponse(
      "google", .renewed, 200,
      #"{"access_token":"{access}","expires_in":3599,"refresh_token_expires_in":604799,"scope":"openid","token_type":"Bearer"}"#,
      means: .grant(rotated: false, seconds: 3599), .documented,
      "https://developers.google.com/identity/protocols/oauth2#expiration"),
    ProviderResponse(
      "google", .refused, 400,
      #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#, means: .ends, .seen,
      "https://github.com/googleapis/google-api-php-client/issues/2266"),
    ProviderResponse(
      "google", .refused, 400, #"{"error":"invalid_grant","error_description":"Bad Request"}"#, means: .ends, .seen,
      "https://github.com/nextcloud/server/issues/40863"),
    ProviderResponse(
      "google", .interaction, 400,
      #"{"error":"invalid_grant","error_description":"reauth related error (invalid_rapt)","error_subtype":"invalid_rapt"}"#,
      means: .ends, .seen, "https://github.com/googleapis/google-auth-library-nodejs/issues/1961"),
    ProviderResponse(
      "google", .client, 401, #"{"error":"deleted_client","error_description":"The OAuth client was deleted."}"#,
      means: .misconfigured, .seen, "https://github.com/xyou365/AutoRclone/issues/98"),
    ProviderResponse(
      "google", .client, 401, #"{"error":"invalid_client","error_description":"The OAuth client was not found."}"#,
      means: .misconfigured, .documented, guide),
    ProviderResponse(
      "google", .client, 400, #"{"error":"admin_policy_enforced","error_description":"Access was blocked."}"#,
      means: .misconfigured, .documented, guide),
    ProviderResponse(
      "google", .broken, 500, #"{"error":"internal_failure","error_description":"Backend Error"}"#,
      means: .unavailable, .documented, guide),
  ]
}
