extension Result {
  /// What came of `body`, thrown or not.
  package init(catching body: () async throws(Failure) -> Success) async {
    do throws(Failure) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
