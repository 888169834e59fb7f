/// The user whose items an account sends, as the session reports it, and what the store still has to record about it.
struct OutboxUser {
  private(set) var permission = OutboxPermission.blocked(reason: OutboxAccount.hydrating)
  private(set) var known: Subject?
  /// The last known user, if this user has signed out since the daemon started and nobody is signed in.
  private var last: Subject?
  /// The subject under which this user's items may have been stored before the provider named the user, or `nil` if
  /// there is none.
  private var former: Subject?
  private(set) var isReported = false
  /// Whether the store has assigned all items that belong to the current user, or no user is known.
  private(set) var isBound: Bool
  /// Whether the store still has to record that a user without a name may have signed out. Nothing is claimed until the
  /// store has done so.
  private(set) var isLeft: Bool

  init(isLeft: Bool = false) { (self.isLeft, isBound) = (isLeft, !isLeft) }

  var maySend: Bool { if case .sendable = permission { true } else { false } }

  /// Whether the user has signed out and no user is known.
  var isGone: Bool { known == nil && permission == .blocked(reason: OutboxPermission.signedOut) }

  /// Applies a change to the session (`OutboxMachine.sessionChanged`), and returns whether the permission or the user is
  /// different now.
  mutating func changed(_ permission: OutboxPermission, known: Subject?, formerly former: Subject?) -> Bool {
    let subject: Subject? = if case .sendable(let subject) = permission { subject ?? known } else { known }
    let isOther = permission != self.permission || subject != self.known
    last = subject == nil ? self.known ?? last : nil
    (self.permission, self.known, self.former) = (permission, subject, former)
    if isOther, isGone { isLeft = true }
    if isOther { bindAgain() }
    isReported = true
    return isOther
  }

  var subjects: [Subject?] {
    let user = maySend ? known : last ?? known
    let subjects = [nil] + [former, user].filter { $0 != nil }
    if maySend || known != nil { return subjects }
    // If the user signed out before the daemon started, only the store knows who that was.
    if user == nil { return subjects + [.last] }
    return user == .unnamed ? subjects + [.unnamedBefore] : subjects
  }

  /// Records that a user without a name has signed out.
  mutating func leave() {
    isLeft = true
    bindAgain()
  }

  /// Records a new item, and returns whether the store may have to assign it to the user, or to another one.
  mutating func enqueued(under subject: Subject?) -> Bool {
    // A user without a name may have signed out in the meantime, so the items may not belong to the current user.
    let hasChanged = subject == .unnamed && known != .unnamed
    if hasChanged, permission == .blocked(reason: OutboxPermission.signedOut) { isLeft = true }
    guard subject == nil || hasChanged else { return false }
    bindAgain()
    return true
  }

  /// The subject to which the next `OutboxStoreWork.bind` assigns items, or `nil` if no user is known.
  private var boundSubject: Subject? { isLeft ? .unnamedBefore : known }

  /// Requests a new binding, unless no user is known.
  mutating func bindAgain() { isBound = boundSubject == nil }

  /// Returns the binding for the store to carry out, or `nil` if all items are assigned.
  mutating func bind(_ name: AccountName) -> OutboxStoreWork? {
    guard !isBound, let subject = boundSubject else { return nil }
    // Set this before the work starts, because a new item can reset it while the store works.
    isBound = true
    return leaving(name) ?? .bind(name, to: subject, formerly: former, adopts: maySend)
  }

  func leaving(_ name: AccountName) -> OutboxStoreWork? {
    isLeft ? .bind(name, to: .unnamedBefore, formerly: .unnamed, adopts: false) : nil
  }

  /// Applies the result of a binding. The binding is repeated until all items are assigned.
  mutating func bound(to subject: Subject, adopts: Bool, isDone: Bool) {
    if subject == .unnamedBefore {
      isLeft = !isDone
      return bindAgain()
    }
    // If the session has changed in the meantime, it has already requested another binding.
    if boundSubject == subject, maySend == adopts, !isDone { bindAgain() }
  }
}
