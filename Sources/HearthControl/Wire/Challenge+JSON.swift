package import HearthCore

/// `data.challenge` of the error 1008 (contract, section 5).
extension Challenge: TimelessWireValue {
  package static let fields = Fields<Challenge>(
    .required("origin", \.origin, .origin), .optional("error", \.error, .text),
    .optional("acrValues", \.acrValues, .text), .optional("maxAge", \.maxAge, .int),
    .optional("claims", \.claims, .text), .optional("scope", \.scope, .text),
    make: { Challenge(origin: $0, error: $1, acrValues: $2, maxAge: $3, claims: $4, scope: $5) })
}

extension WireType<Origin> {
  fileprivate static var origin: WireType {
    WireType<String>.text.mapped("must be an origin", to: { try? Origin(ofServer: $0) }, from: \.description)
  }
}
