/// A JSON object: its members in the order in which they came or were set. Keys are compared by their bytes.
package struct JSONObject: Hashable, Sendable {
  package struct Member: Hashable, Sendable {
    package var key: String
    package var value: JSON
  }

  package private(set) var members: [Member]

  /// The keys are the caller's to keep unique.
  package init(_ members: [Member] = []) {
    self.members = members
  }

  package var isEmpty: Bool { members.isEmpty }
  package var count: Int { members.count }

  /// Setting nil takes the member away; a new key goes to the end.
  package subscript(key: String) -> JSON? {
    get { members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value }
    set {
      let index = members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(key: key, value: value))
      case (nil, nil): break
      }
    }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSON)...) {
    self.init(elements.map { Member(key: $0.0, value: $0.1) })
  }
}
