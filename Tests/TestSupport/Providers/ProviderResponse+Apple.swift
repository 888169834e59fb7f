extension ProviderResponse {
  private static let tokens =
    "https://developer.apple.com/documentation/signinwithapplerestapi/generate-and-validate-tokens"

  static let apple: [ProviderResponse] = [
    ProviderResponse(
      "apple", .renewed, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"id_token":"{id}"}"#,
      means: .grant(rotated: false, seconds: 3600), .documented, tokens),
    ProviderResponse(
      "apple", .refused, 400,
      #"{"error":"invalid_grant","error_description":"The token has expired or has been revoked."}"#, means: .ends,
      .documented, "https://developer.apple.com/documentation/signinwithapplerestapi/errorresponse"),
    ProviderResponse(
      "apple", .client, 400, #"{"error":"invalid_client"}"#, means: .misconfigured, .seen,
      "https://github.com/mikebronner/laravel-sign-in-with-apple/issues/9"),
    ProviderResponse(
      "apple", .client, 400, #"{"error":"unauthorized_client"}"#, means: .misconfigured, .documented,
      "https://developer.apple.com/documentation/signinwithapplerestapi/errorresponse"),
  ]
}
