import HearthCore

/// Counts the requests that carry a token, and times them. Those without one only ask for the time.
struct MeasuredAPIEndpoint: APIEndpoint {
  let api: any APIEndpoint
  let metrics: Metrics

  func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse {
    guard bearer != nil else {
      return try await api.exchange(request, of: account, bearer: bearer, timeout: timeout)
    }
    let begun = metrics.begin()
    do throws(ExchangeFailure) {
      let response = try await api.exchange(request, of: account, bearer: bearer, timeout: timeout)
      metrics.attempted(for: account, status: response.status, since: begun)
      return response
    } catch {
      metrics.attempted(for: account, status: nil, since: begun)
      throw error
    }
  }
}
