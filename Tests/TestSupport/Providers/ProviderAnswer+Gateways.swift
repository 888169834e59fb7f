extension ProviderAnswer {
  private static let cloudflare =
    "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/"

  /// What stands between a machine and any provider.
  static let gateways: [ProviderAnswer] = [
    ProviderAnswer(
      "gateway", .gateway, 200, "<!DOCTYPE html><html><body>Welcome to the hotel. Please sign in.</body></html>",
      type: "text/html", means: .unavailable, .documented, "https://www.rfc-editor.org/rfc/rfc8952"),
    ProviderAnswer(
      "gateway", .gateway, 302, "", type: "text/html", headers: ["Location": "http://portal.example/"],
      means: .unavailable, .documented, "https://www.rfc-editor.org/rfc/rfc8952"),
    ProviderAnswer(
      "gateway", .gateway, 511, "<html><head><title>Network Authentication Required</title></head></html>",
      type: "text/html", means: .unavailable, .documented, "https://www.rfc-editor.org/rfc/rfc6585#section-6"),
    ProviderAnswer(
      "gateway", .gateway, 403, "error code: 1020", type: "text/plain; charset=UTF-8",
      headers: ["Server": "cloudflare"],
      means: .unclear, .documented, cloudflare),
    ProviderAnswer(
      "gateway", .gateway, 403, "<html><head><title>403 Forbidden</title></head><body>nginx</body></html>",
      type: "text/html", means: .unavailable, .documented, "https://nginx.org/en/docs/"),
    ProviderAnswer(
      "gateway", .gateway, 400,
      "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>",
      type: "text/html", means: .unavailable, .documented, "https://nginx.org/en/docs/"),
    ProviderAnswer(
      "gateway", .gateway, 400, "", means: .unclear, .documented, "https://www.rfc-editor.org/rfc/rfc9110"),
    ProviderAnswer(
      "gateway", .gateway, 401, "Unauthorized", type: "text/plain", means: .unclear, .documented,
      "https://www.rfc-editor.org/rfc/rfc9110"),
    ProviderAnswer(
      "gateway", .gateway, 403, #"{"message":"Forbidden"}"#, means: .unclear, .documented,
      "https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html"),
    ProviderAnswer(
      "gateway", .gateway, 407, "", type: "text/html", means: .unavailable, .documented,
      "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.8"),
    ProviderAnswer(
      "gateway", .limited, 429, "", headers: ["Retry-After": "120"], means: .unavailable, .documented,
      "https://www.rfc-editor.org/rfc/rfc6585#section-4"),
    ProviderAnswer(
      "gateway", .broken, 502, "<html><head><title>502 Bad Gateway</title></head></html>", type: "text/html",
      means: .unavailable, .documented, "https://nginx.org/en/docs/"),
    ProviderAnswer(
      "gateway", .broken, 503, "upstream connect error or disconnect/reset before headers", type: "text/plain",
      means: .unavailable, .documented, "https://www.envoyproxy.io/docs/"),
    ProviderAnswer(
      "gateway", .broken, 504, #"{"message":"Endpoint request timed out"}"#, means: .unavailable, .documented,
      "https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html"),
  ]
}
