/// The version, which is the same for all of Hearth's programs.
package enum HearthVersion {
  package static let text = "0.1.0"
  /// The version of the control protocol (`daemon.getInfo`).
  package static let protocolNumber = 1
}
