extension ProviderResponse {
  private static let cloudflare =
    "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/"

  /// Responses of machines between Hearth and any provider.
  static let gateways: [ProviderResponse] = [
    ProviderResponse(
      "gateway", .gateway, 200, "<!DOCTYPE html><html><body>Welcome to the hotel. Please sign in.</body></html>",
      type: "text/html", means: .unavailable, .documented, "https://www.rfc-editor.org/rfc/rfc8952"),
    ProviderResponse(
      "gateway", .gateway, 302, "", type: "text/html", headers: ["Location": "http://portal.example/"],
      means: .unavailable, .documented, "https://www.rfc-editor.org/rfc/rfc8952"),
    ProviderResponse(
      "gateway", .gateway, 511, "<html><head><title>Network Authentication Required</title></head></html>",
      type: "text/html", means: .unavailable, .documented, "https://www.rfc-editor.org/rfc/rfc6585#section-6"),
    ProviderResponse(
      "gateway", .gateway, 403, "error code: 1020", type: "text/plain; charset=UTF-8",
      headers: ["Server": "cloudflare"],
      means: .unclear, .documented, cloudflare),
    ProviderResponse(
      "gateway", .gateway, 403, "<html><head><title>403 Forbidden</title></head><body>nginx</body></html>",
      type: "text/html", means: .unavailable, .documented, "https://nginx.org/en/docs/"),
    ProviderResponse(
      "gateway", .gateway, 400,
      "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>",
      type: "text/html", means: .unavailable, .documented, "https://nginx.org/en/docs/"),
    ProviderResponse(
      "gateway", .gateway, 400, "", means: .unclear, .documented, "https://www.rfc-editor.org/rfc/rfc9110"),
    ProviderResponse(
      "gateway", .gateway, 401, "Unauthorized", type: "text/plain", means: .unclear, .documented,
      "https://www.rfc-editor.org/rfc/rfc9110"),
    ProviderResponse(
      "gateway", .gateway, 403, #"{"message":"Forbidden"}"#, means: .unclear, .documented,
      "https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html"),
    ProviderResponse(
      "gateway", .gateway, 407, "", type: "text/html", means: .unavailable, .documented,
      "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.8"),
    ProviderResponse(
      "gateway", .limited, 429, "", headers: ["Retry-After": "120"], means: .unavailable, .documented,
      "https://www.rfc-editor.org/rfc/rfc6585#section-4"),
    ProviderResponse(
      "gateway", .broken, 502, "<html><head><title>502 Bad Gateway</title></head></html>", type: "text/html",
      means: .unavailable, .documented, "https://nginx.org/en/docs/"),
    ProviderResponse(
      "gateway", .broken, 503, "upstream connect error or disconnect/reset before headers", type: "text/plain",
      means: .unavailable, .documented, "https://www.envoyproxy.io/docs/"),
    ProviderResponse(
      "gateway", .broken, 504, #"{"message":"Endpoint request timed out"}"#, means: .unavailable, .documented,
      "https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html"),
  ]
}
