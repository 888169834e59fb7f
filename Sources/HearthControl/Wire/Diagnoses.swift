package import HearthCore

/// What `session.diagnose` found, in the order in which it was tried.
package struct Diagnoses: TimelessWireValue {
  package static let fields = Fields<Diagnoses>(
    .required("checks", \.checks, .array(Diagnosis.fields)), make: Self.init)

  package let checks: [Diagnosis]

  package init(_ checks: [Diagnosis]) { self.checks = checks }
}

extension Diagnosis: TimelessWireValue {
  package static let fields = Fields<Diagnosis>(
    .required("check", \.check, .choice), .required("verdict", \.verdict, .choice),
    .required("message", \.message, .text), .omittable("path", \.path, .text), make: Self.init)
}
