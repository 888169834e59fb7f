import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension Sandbox {
  /// Starts a device sign-in (RFC 8628, section 3.1).
  func startDevice(_ call: Call) throws -> Response {
    guard let client = try authenticatedClient(call) else {
      throw ErrorBody("invalid_client", "The client_id is missing.")
    }
    let (scope, page) = (call.fields["scope"] ?? "", issuer.url + Endpoint.device.rawValue)
    let started = state.withLock { state in
      let started = state.devices.start(
        clientID: client, scope: scope, page: page, lifetime: settings.deviceCodeLifetime.value,
        interval: settings.deviceInterval.value, at: now)
      state.provider.issued.append(started.deviceCode)
      return started
    }
    return .json(started)
  }

  /// Shows the page for the user code and handles its form (RFC 8628, section 3.3). A code in the URL only fills in the
  /// form.
  func device(_ call: Call) -> Response {
    guard call.method == .post else { return Page.device(userCode: call.query["user_code"] ?? "").response() }
    let userCode = call.fields["user_code"] ?? ""
    guard let waiting = state.withLock({ $0.devices.waiting(for: userCode, at: now) }) else {
      return Page.device(userCode: userCode, problem: "This code is unknown or has expired.").response(.badRequest)
    }
    return ask(.device(waiting), call)
  }

  /// Records the user's decision for the device's next poll.
  func decide(_ waiting: DeviceCodes.Waiting, _ login: Login?) -> Response {
    guard state.withLock({ $0.devices.decide(waiting.userCode, login, at: now) }) else {
      return Page.device(userCode: "", problem: "This code has expired.").response(.badRequest)
    }
    let page =
      login == nil
      ? Page.message("Access denied", "The device will be notified. You can close this page.")
      : Page.message("Access allowed", "Continue on the device. You can close this page.")
    return page.response()
  }
}
