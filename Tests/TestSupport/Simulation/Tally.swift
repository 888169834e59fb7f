/// How often what happened, in one history or many: a world in which nothing happens proves nothing.
package struct Tally<Event: Hashable & Sendable>: Sendable, CustomStringConvertible {
  private var counts: [Event: Int] = [:]

  package init() {}

  package subscript(_ event: Event) -> Int {
    get { counts[event, default: 0] }
    set { counts[event] = newValue }
  }

  package static func += (sum: inout Tally, one: Tally) {
    sum.counts.merge(one.counts) { $0 + $1 }
  }

  package var description: String {
    counts.map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", ")
  }
}
