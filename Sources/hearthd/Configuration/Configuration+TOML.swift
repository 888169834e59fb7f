import HearthCore
import Logging
import TOMLKit

extension Configuration {
  private enum Section: String, CaseIterable { case accounts, refresh, outbox, log }

  private enum RefreshKey: String, CaseIterable {
    case margin, jitter
    case marginFraction = "margin_fraction"
    case backoffInitial = "backoff_initial"
    case backoffMax = "backoff_max"
    case requestTimeout = "request_timeout"
  }

  private enum OutboxKey: String, CaseIterable {
    case concurrency
    case maxItems = "max_items"
    case maxBytes = "max_bytes"
    case maxBody = "max_body"
    case retryInitial = "retry_initial"
    case retryMax = "retry_max"
    case maxAttempts = "max_attempts"
    case idempotencyHorizon = "idempotency_horizon"
    case keepDelivered = "keep_delivered"
    case keepDead = "keep_dead"
  }

  private enum LogKey: String, CaseIterable { case level }

  /// Reads the text of a configuration file. `file` is for errors alone.
  init(text: String, file: String, roots: PathRoots) throws(ConfigurationError) {
    // The parser takes a C string, and would not see what comes after.
    guard !text.utf8.contains(0) else { throw ConfigurationError("\(file): there is a NUL byte in it") }
    let root = try Self.parse(text, file: file)
    let source = ConfigurationSource(file: file, text: text, roots: roots)
    let sections = try TableReader<Section>(root, at: [], of: source)
    accounts = try Self.accounts(sections.value(.accounts), of: source)
    refresh = try Self.refresh(sections.value(.refresh), of: source)
    outbox = try Self.outbox(sections.value(.outbox), of: source)
    let log = try TableReader<LogKey>(sections.value(.log), at: ["log"], of: source)
    logLevel = try log.choice(.level, as: Logger.Level.self) ?? logLevel
  }

  private static func parse(_ text: String, file: String) throws(ConfigurationError) -> TOMLTable {
    do {
      return try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw ConfigurationError("\(file):\(error.source.begin.line): not valid TOML: \(error.description)")
    } catch {
      throw ConfigurationError("\(file): not valid TOML: \(error)")
    }
  }

  private static func accounts(
    _ value: (any TOMLValueConvertible)?, of source: ConfigurationSource
  ) throws(ConfigurationError) -> [AccountConfiguration] {
    guard let value else { return [] }
    guard let table = value.table else {
      throw source.error(at: ["accounts"], "\"accounts\" must be tables like [accounts.work]")
    }
    var accounts: [AccountConfiguration] = []
    for key in table.keys {
      guard let name = AccountName(key) else {
        throw source.error(
          at: ["accounts", key],
          "\"\(key)\" cannot name an account: a name has up to 64 letters, digits, _ and -, the first a letter or digit"
        )
      }
      accounts.append(try AccountConfiguration(name, table[key], of: source))
    }
    accounts.sort { $0.name < $1.name }
    var owners: [String: AccountName] = [:]
    for account in accounts {
      guard let file = account.credentialFile else { continue }
      if let owner = owners.updateValue(account.name, forKey: file) {
        throw source.error(
          at: ["accounts", account.name.description, "credential_file"],
          "[accounts.\(owner)] and [accounts.\(account.name)] cannot share the credential_file \(file)")
      }
    }
    return accounts
  }

  private static func refresh(
    _ value: (any TOMLValueConvertible)?, of source: ConfigurationSource
  ) throws(ConfigurationError) -> RefreshSettings {
    let table = try TableReader<RefreshKey>(value, at: ["refresh"], of: source)
    var settings = RefreshSettings()
    settings.margin = try table.duration(.margin, orZero: true) ?? settings.margin
    settings.marginFraction = try table.fraction(.marginFraction) ?? settings.marginFraction
    settings.jitter = try table.fraction(.jitter) ?? settings.jitter
    settings.backoffInitial = try table.duration(.backoffInitial) ?? settings.backoffInitial
    settings.backoffMax = try table.duration(.backoffMax) ?? settings.backoffMax
    settings.requestTimeout = try table.duration(.requestTimeout) ?? settings.requestTimeout
    guard settings.backoffInitial <= settings.backoffMax else {
      throw table.error(
        table.has(.backoffInitial) ? .backoffInitial : .backoffMax, "makes backoff_initial longer than backoff_max")
    }
    return settings
  }

  private static func outbox(
    _ value: (any TOMLValueConvertible)?, of source: ConfigurationSource
  ) throws(ConfigurationError) -> OutboxSettings {
    let table = try TableReader<OutboxKey>(value, at: ["outbox"], of: source)
    var settings = OutboxSettings()
    settings.maxItems = try table.integer(.maxItems, in: 1...100_000_000) ?? settings.maxItems
    settings.maxBytes = try table.byteCount(.maxBytes) ?? settings.maxBytes
    settings.maxBody = try table.byteCount(.maxBody) ?? settings.maxBody
    settings.concurrency = try table.integer(.concurrency, in: 1...1024) ?? settings.concurrency
    settings.retryInitial = try table.duration(.retryInitial) ?? settings.retryInitial
    settings.retryMax = try table.duration(.retryMax) ?? settings.retryMax
    settings.maxAttempts = try table.integer(.maxAttempts, in: 1...1_000_000) ?? settings.maxAttempts
    settings.idempotencyHorizon = try table.duration(.idempotencyHorizon) ?? settings.idempotencyHorizon
    settings.keepDelivered = try table.duration(.keepDelivered, orZero: true) ?? settings.keepDelivered
    settings.keepDead = try table.duration(.keepDead, orZero: true) ?? settings.keepDead
    guard settings.retryInitial <= settings.retryMax else {
      throw table.error(
        table.has(.retryInitial) ? .retryInitial : .retryMax, "makes retry_initial longer than retry_max")
    }
    guard settings.maxBody <= settings.maxBytes else {
      throw table.error(table.has(.maxBody) ? .maxBody : .maxBytes, "makes max_body larger than max_bytes")
    }
    return settings
  }
}
