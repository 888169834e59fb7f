package import HearthCore

extension APISettings: ExpressibleByArrayLiteral {
  package init(arrayLiteral origins: Origin...) { self.init(origins: Set(origins)) }
}
