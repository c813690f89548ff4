/// The networks by which clients are counted. One client may use every address of its network.
extension IPAddress {
    /// The network of one client: an IPv4 address, a /64 of IPv6, or all of loopback, which every program on this machine
    /// can use.
    public var clientNetwork: AddressBlock { network(v4: 32, v6: 64) }

    /// The network of one subscriber or site: a /24 of IPv4, a /48 of IPv6, or all of loopback. It bounds a client that
    /// uses many addresses.
    public var siteNetwork: AddressBlock { network(v4: 24, v6: 48) }

    private func network(v4: Int, v6: Int) -> AddressBlock {
        let address = unmapped
        switch address.family {
        case .v4: return address.bits >> 24 == 127 ? Self.loopback : AddressBlock(around: address, prefix: v4)
        case .v6: return address.bits == 1 ? Self.loopback : AddressBlock(around: address, prefix: v6)
        }
    }

    private static let loopback = AddressBlock(around: IPAddress(family: .v4, bits: 127 << 24), prefix: 8)
}
