import Testing

@testable import HearthLinux

@Suite("What of the network is worth a hint") struct NetworkStateTests {
  private typealias Address = RouteMessage.Address
  private typealias Route = RouteMessage.Route

  private let card: UInt32 = 2
  private let bridge: UInt32 = 3
  private let home = Address(interface: 2, family: 2, bytes: [192, 168, 1, 7])
  private let way = Route(interface: 2, family: 2, table: 254, priority: 600, gateway: [192, 168, 1, 1])

  /// Takes what is told; `#expect` changes no value.
  private final class Teller {
    private var state = NetworkState()

    func apply(_ message: RouteMessage, isListed: Bool) -> Bool { state.apply(message, isListed: isListed) }
  }

  private func state() -> Teller {
    let state = Teller()
    #expect(!state.apply(.link(interface: card, isRunning: true, isUp: true, kind: nil), isListed: true))
    #expect(!state.apply(.address(home), isListed: true))
    #expect(!state.apply(.defaultRoute(way), isListed: true))
    return state
  }

  @Test("a default route or an address that is new is, once, and again after it was gone")
  func hints() {
    let state = Teller()
    #expect(state.apply(.address(home), isListed: false))
    #expect(!state.apply(.address(home), isListed: false), "a lifetime that is renewed")
    #expect(state.apply(.defaultRoute(way), isListed: false))
    #expect(!state.apply(.defaultRoute(way), isListed: false), "a route that is renewed")
    #expect(!state.apply(.addressGone(home), isListed: false))
    #expect(!state.apply(.defaultRouteGone(way), isListed: false))
    #expect(state.apply(.address(home), isListed: false))
    #expect(state.apply(.defaultRoute(way), isListed: false))
  }

  @Test("a route that another one replaced is new when it comes back: the kernel does not tell that it went")
  func replaced() {
    let state = state()
    let other = Route(interface: 2, family: 2, table: 254, priority: 600, gateway: [192, 168, 1, 9])
    #expect(state.apply(.defaultRoute(other, replaces: true), isListed: false))
    #expect(!state.apply(.defaultRoute(other, replaces: true), isListed: false))
    #expect(state.apply(.defaultRoute(way, replaces: true), isListed: false))
  }

  @Test("what was there before anybody listened is not, nor its renewal")
  func listed() {
    let state = state()
    #expect(!state.apply(.address(home), isListed: false))
    #expect(!state.apply(.defaultRoute(way), isListed: false))
  }

  @Test(
    "a container's bridge or link that comes or goes is not, with an address or without", arguments: ["bridge", "veth"])
  func containers(kind: String) {
    let state = state()
    let address = Address(interface: bridge, family: 2, bytes: [172, 17, 0, 1])
    #expect(!state.apply(.link(interface: bridge, isRunning: false, isUp: false, kind: kind), isListed: false))
    #expect(!state.apply(.address(address), isListed: false))
    #expect(!state.apply(.link(interface: bridge, isRunning: true, isUp: true, kind: kind), isListed: false))
    #expect(!state.apply(.addressGone(address), isListed: false))
    #expect(!state.apply(.linkGone(interface: bridge), isListed: false))
  }

  @Test("a way out over a bridge is, for the card may be part of one")
  func bridged() {
    let state = state()
    _ = state.apply(.link(interface: bridge, isRunning: true, isUp: true, kind: "bridge"), isListed: false)
    let route = Route(interface: bridge, family: 2, table: 254, priority: 0, gateway: [10, 0, 0, 1])
    #expect(state.apply(.defaultRoute(route), isListed: false))
  }

  @Test("a cable that is plugged in again is, though address and route were never told to be gone")
  func cable() {
    let state = state()
    #expect(!state.apply(.link(interface: card, isRunning: false, isUp: true, kind: nil), isListed: false))
    #expect(state.apply(.link(interface: card, isRunning: true, isUp: true, kind: nil), isListed: false))
    #expect(!state.apply(.link(interface: card, isRunning: true, isUp: true, kind: nil), isListed: false))
  }

  @Test("the route of a link that was switched off is new when it comes back: the kernel does not tell that it went")
  func switchedOff() {
    let state = state()
    #expect(!state.apply(.link(interface: card, isRunning: false, isUp: false, kind: nil), isListed: false))
    #expect(state.apply(.defaultRoute(way), isListed: false))
  }

  @Test("what the kernel never says is passed over")
  func nonsense() {
    #expect(RouteMessage.read([]).isEmpty)
    #expect(RouteMessage.read([255, 255, 255, 255, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).isEmpty)
    let short: [UInt8] = [17, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    #expect(RouteMessage.read(short[...]).map(\.message) == [.other])
  }
}
