extension ProviderResponse {
  private static let flow =
    "https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow#refresh-the-access-token"
  private static let codes = "https://learn.microsoft.com/entra/identity-platform/reference-error-codes"
  private static let trace =
    #""timestamp":"2026-01-09 02:02:12Z","trace_id":"255d1aef-8c98-452f-ac51-23d051240864","correlation_id":"fb3d2015-bc17-4bb9-bb85-30c5cf1aaaa7""#

  private static func aadsts(_ error: String, _ code: Int, _ text: String) -> String {
    #"{"error":"\#(error)","error_description":"AADSTS\#(code): \#(text)\r\nTrace ID: 255d1aef-8c98-452f-ac51-23d051240864","error_codes":[\#(code)],\#(trace)}"#
  }

  static let microsoft: [ProviderResponse] = [
    ProviderResponse(
      "microsoft", .rotated, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3599,"ext_expires_in":3599,"scope":"https://graph.microsoft.com/mail.read","refresh_token":"{refresh}","id_token":"{id}"}"#,
      means: .grant(rotated: true, seconds: 3599), .documented, flow),
    ProviderResponse(
      "microsoft", .refused, 400,
      aadsts("invalid_grant", 50173, "The provided grant has expired due to it being revoked."),
      means: .ends, .documented, codes),
    ProviderResponse(
      "microsoft", .refused, 400,
      aadsts("invalid_grant", 700082, "The refresh token has expired due to inactivity."), means: .ends, .documented,
      codes),
    ProviderResponse(
      "microsoft", .refused, 400,
      aadsts("invalid_grant", 9_002_313, "Invalid request. Request is malformed or invalid."), means: .ends, .seen,
      "https://github.com/MicrosoftDocs/azure-docs/issues/63819"),
    ProviderResponse(
      "microsoft", .disabled, 400, aadsts("invalid_grant", 50057, "The user account is disabled."),
      means: .endsDisabled, .documented, codes),
    ProviderResponse(
      "microsoft", .interaction, 400,
      aadsts("interaction_required", 50076, "You must use multi-factor authentication to access the resource."),
      means: .ends, .documented, flow),
    ProviderResponse(
      "microsoft", .interaction, 400,
      aadsts("invalid_grant", 65001, "The user or administrator has not consented to use the application."),
      means: .ends, .documented, codes),
    ProviderResponse(
      "microsoft", .interaction, 400,
      #"{"error":"interaction_required","error_description":"AADSTS70043: The refresh token has expired or is invalid due to sign-in frequency checks by conditional access.","error_codes":[70043],"suberror":"token_expired"}"#,
      means: .ends, .seen, "https://github.com/Azure/azure-cli/issues/23822"),
    ProviderResponse(
      "microsoft", .gateway, 400,
      aadsts(
        "invalid_grant", 53003,
        "Access has been blocked by Conditional Access policies. The access policy does not allow token issuance."),
      means: .unclear, .seen, "https://github.com/AzureAD/microsoft-identity-web/issues/2419"),
    ProviderResponse(
      "microsoft", .gateway, 400,
      aadsts("invalid_grant", 53000, "Device is not in required device state: compliant."), means: .unclear,
      .documented, codes),
    ProviderResponse(
      "microsoft", .limited, 400,
      aadsts(
        "invalid_grant", 50196,
        "The server terminated an operation because it encountered a loop while processing a request."),
      means: .unavailable, .documented,
      "https://learn.microsoft.com/entra/msal/dotnet/acquiring-tokens/throttling"),
    ProviderResponse(
      "microsoft", .limited, 429, #"{"error":"temporarily_unavailable"}"#, headers: ["Retry-After": "60"],
      means: .unavailable, .documented, "https://learn.microsoft.com/entra/msal/dotnet/acquiring-tokens/throttling"),
    ProviderResponse(
      "microsoft", .client, 401,
      aadsts("invalid_client", 7_000_222, "The provided client secret keys for app are expired."),
      means: .misconfigured, .documented, codes),
    ProviderResponse(
      "microsoft", .client, 400,
      aadsts("invalid_scope", 70011, "The provided value for the input parameter 'scope' is not valid."),
      means: .misconfigured, .documented, flow),
    ProviderResponse(
      "microsoft", .broken, 400, aadsts("temporarily_unavailable", 90033, "A transient error has occurred."),
      means: .unavailable, .documented, codes),
  ]
}
