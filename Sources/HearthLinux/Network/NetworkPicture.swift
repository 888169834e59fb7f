/// What is known of this machine's network, so that what comes is told from what is only told again.
///
/// Worth a hint are a way out (a default route), an address that reaches further than its link, and a link that works
/// again and has one of them. Containers' own links, and what goes away or is renewed, are worth none.
struct NetworkPicture: Sendable {
  private struct Link {
    var isRunning: Bool
    var isContainers: Bool
  }

  private var links: [UInt32: Link] = [:]
  private var addresses: Set<RouteMessage.Address> = []
  private var routes: Set<RouteMessage.Route> = []

  /// Takes a message in; true where a connection that failed may succeed now. `isListed`: it tells of what was there
  /// already.
  mutating func take(_ message: RouteMessage, isListed: Bool) -> Bool {
    switch message {
    case .link(let interface, let isRunning, let isUp, let kind):
      let wasRunning = links[interface]?.isRunning ?? isRunning
      links[interface] = Link(isRunning: isRunning, isContainers: ["bridge", "veth"].contains(kind))
      // The kernel takes the routes of a link that is switched off away without a word.
      if !isUp { routes = routes.filter { $0.interface != interface } }
      return isRunning && !wasRunning && leadsOut(interface)
    case .linkGone(let interface):
      links[interface] = nil
      addresses = addresses.filter { $0.interface != interface }
      routes = routes.filter { $0.interface != interface }
      return false
    case .address(let address):
      let isNew = addresses.insert(address).inserted
      return isNew && !isListed && links[address.interface]?.isContainers != true
    case .addressGone(let address):
      addresses.remove(address)
      return false
    case .defaultRoute(let route, let replaces):
      if replaces { routes = routes.filter { $0 == route || !$0.standsLike(route) } }
      return routes.insert(route).inserted && !isListed
    case .defaultRouteGone(let route):
      routes.remove(route)
      return false
    case .listEnded, .other:
      return false
    }
  }

  /// Messages were lost: all that is told from now on is new.
  mutating func forget() { self = NetworkPicture() }

  private func leadsOut(_ interface: UInt32) -> Bool {
    routes.contains { $0.interface == interface }
      || links[interface]?.isContainers != true && addresses.contains { $0.interface == interface }
  }
}
