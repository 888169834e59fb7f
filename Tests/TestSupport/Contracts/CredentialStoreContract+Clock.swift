import HearthCore

extension CredentialStoreContract {
  /// What the next process learns about the clock.
  static let clock: [CredentialFact] = [
    CredentialFact("each process of the same boot learns how far the clock was set since a grant got its times") {
      bench in
      func expectStep(of number: Int, _ step: Duration, isKnown: Bool = true, line: Int = #line) async throws {
        let token = bench.credential(number).grant.accessToken.fingerprint
        let known = ClockStep(token: token, step: step, isKnown: isKnown)
        try expect(try await bench.store().remembered().clockStep, is: known, line: line)
      }
      let store = bench.store()
      try await store.write(bench.credential(1))
      try await expectStep(of: 1, .zero)
      bench.setClock(.seconds(-3600))
      for _ in 0..<2 {
        try await expectStep(of: 1, .seconds(-3600))
        _ = await bench.store().read()
      }
      var moved = bench.credential(1)
      moved.grant.move(by: .seconds(-3600))
      try await store.write(moved)
      try await expectStep(of: 1, .zero)
      bench.setClock(.seconds(1800))
      bench.reboot()
      try await expectStep(of: 1, .zero, isKnown: false)
      _ = await bench.store().read()
      bench.setClock(.seconds(60))
      try await expectStep(of: 1, .seconds(60))
      bench.setClock(.seconds(1800))
      try await bench.store().write(bench.credential(2))
      bench.setClock(.seconds(-1))
      try await expectStep(of: 2, .seconds(-1))
    }
  ]
}
