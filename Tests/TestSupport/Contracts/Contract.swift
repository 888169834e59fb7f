/// A promise in the documentation of a port, with a check of it.
///
/// The check throws a `ContractBreach` if the promise is broken.
package struct Fact<Bench: Sendable>: Sendable, CustomStringConvertible {
  package let description: String
  package let check: @Sendable (Bench) async throws -> Void

  package init(_ description: String, _ check: @escaping @Sendable (Bench) async throws -> Void) {
    self.description = description
    self.check = check
  }
}

/// An implementation of a port, real or a double, and how to make a new one with everything that a check needs.
package struct Implementation<Bench: Sendable>: Sendable, CustomStringConvertible {
  package typealias Check = @Sendable (Bench) async throws -> Void

  package let description: String
  private let run: @Sendable (@escaping Check) async throws -> Void

  /// `run` makes a new one, passes it to the check, and removes it.
  package init(_ description: String, run: @escaping @Sendable (@escaping Check) async throws -> Void) {
    self.description = description
    self.run = run
  }

  package func keeps(_ fact: Fact<Bench>) async throws { try await run(fact.check) }
}

/// A broken promise of a port.
package struct ContractBreach: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String, _ file: String, _ line: Int) {
    self.description = "\(file):\(line): \(description)"
  }
}

package func expect(_ isSo: Bool, _ fact: String, file: String = #fileID, line: Int = #line) throws {
  guard isSo else { throw ContractBreach("It is not so that \(fact).", file, line) }
}

package func expect<Value: Equatable>(
  _ value: Value, is expected: Value, file: String = #fileID, line: Int = #line
) throws {
  guard value == expected else { throw ContractBreach("\(value) was found, \(expected) was expected.", file, line) }
}

/// Expects that a step fails with this exact error.
package func expect<Failure: Error & Equatable, Value>(
  throws expected: Failure, file: String = #fileID, line: Int = #line, _ body: () async throws -> Value
) async throws {
  let value: Value
  do {
    value = try await body()
  } catch {
    return try expect(error as? Failure == expected, "\(error) is the error \(expected)", file: file, line: line)
  }
  throw ContractBreach("\(value) was found, the error \(expected) was expected.", file, line)
}
