extension ProviderResponse {
  private static let reference = "https://firebase.google.com/docs/reference/rest/auth#section-refresh-token"

  private static func google(_ message: String) -> String {
    #"{"error":{"code":400,"message":"\#(message)","status":"INVALID_ARGUMENT"}}"#
  }

  static let firebase: [ProviderResponse] = [
    ProviderResponse(
      "firebase", .renewed, 200,
      #"{"expires_in":"3600","token_type":"Bearer","refresh_token":"{refresh}","id_token":"{id}","access_token":"{id}","user_id":"{user}","project_id":"1234567890"}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, reference),
    ProviderResponse(
      "firebase", .refused, 400, google("TOKEN_EXPIRED"), means: .ends, .seen,
      "https://github.com/awinogrodzki/next-firebase-auth-edge/issues/21"),
    ProviderResponse(
      "firebase", .refused, 400, google("INVALID_REFRESH_TOKEN"), means: .ends, .documented, reference),
    ProviderResponse("firebase", .disabled, 400, google("USER_DISABLED"), means: .endsDisabled, .documented, reference),
    ProviderResponse(
      "firebase", .disabled, 400, google("USER_NOT_FOUND"), means: .endsDisabled, .documented, reference),
    ProviderResponse(
      "firebase", .interaction, 400, google("CREDENTIAL_TOO_OLD_LOGIN_AGAIN"), means: .unclear, .documented,
      "https://firebase.google.com/docs/reference/rest/auth#section-change-password"),
    ProviderResponse(
      "firebase", .client, 400,
      #"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#,
      means: .misconfigured, .documented, reference),
    ProviderResponse(
      "firebase", .client, 403,
      #"{"error":{"code":403,"message":"Requests from referer <empty> are blocked.","status":"PERMISSION_DENIED","details":[{"reason":"API_KEY_HTTP_REFERRER_BLOCKED"}]}}"#,
      means: .misconfigured, .documented, "https://cloud.google.com/api-keys/docs/add-restrictions-api-keys"),
    ProviderResponse(
      "firebase", .client, 400, google("PROJECT_NUMBER_MISMATCH"), means: .misconfigured, .documented, reference),
    ProviderResponse(
      "firebase", .client, 400, google("INVALID_GRANT_TYPE"), means: .misconfigured, .documented, reference),
    ProviderResponse(
      "firebase", .limited, 400, google("TOO_MANY_ATTEMPTS_TRY_LATER : Access is blocked for a while."),
      means: .unavailable, .documented,
      "https://firebase.google.com/docs/reference/rest/auth#section-sign-in-email-password"),
    ProviderResponse(
      "firebase", .gateway, 403,
      "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Error 403 (Forbidden)!!1</title></html>",
      type: "text/html; charset=UTF-8", means: .unavailable, .seen,
      "https://github.com/firebase/flutterfire/issues/16771"),
    ProviderResponse(
      "firebase", .broken, 503,
      #"{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}"#,
      means: .unavailable, .documented, "https://cloud.google.com/apis/design/errors"),
  ]
}
