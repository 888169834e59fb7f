/// The known links, addresses and routes of this machine, used to distinguish changes from repeated messages.
///
/// Three changes are worth a hint: a new default route, a new global address, and a link that is running again and has
/// such a route or address. Removals, renewals and the addresses of container links are not worth a hint.
struct NetworkState: Sendable {
  private struct Link {
    var isRunning: Bool
    var isContainers: Bool
  }

  private var links: [UInt32: Link] = [:]
  private var addresses: Set<RouteMessage.Address> = []
  private var routes: Set<RouteMessage.Route> = []

  /// Applies a message. Returns true if a connection that failed before may succeed now. `isListed` is true if the
  /// message belongs to a list of existing links, addresses or routes.
  mutating func apply(_ message: RouteMessage, isListed: Bool) -> Bool {
    switch message {
    case .link(let interface, let isRunning, let isUp, let kind):
      let wasRunning = links[interface]?.isRunning ?? isRunning
      links[interface] = Link(isRunning: isRunning, isContainers: ["bridge", "veth"].contains(kind))
      // When a link is switched off, the kernel removes its routes without a message for each route.
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
      if replaces { routes = routes.filter { $0 == route || !$0.replaces(route) } }
      return routes.insert(route).inserted && !isListed
    case .defaultRouteGone(let route):
      routes.remove(route)
      return false
    case .listEnded, .other:
      return false
    }
  }

  /// Called after messages were lost. Addresses and routes reported from now on count as new.
  mutating func reset() { self = NetworkState() }

  private func leadsOut(_ interface: UInt32) -> Bool {
    routes.contains { $0.interface == interface }
      || links[interface]?.isContainers != true && addresses.contains { $0.interface == interface }
  }
}
