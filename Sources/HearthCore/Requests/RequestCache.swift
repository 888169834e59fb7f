/// Whether an earlier answer may be given where there is none now. The raw value is the parameter.
package enum RequestCache: String, Hashable, Sendable, CaseIterable {
  case none, staleIfError
}
