/// The networks that an address speaks for, where clients are counted: whoever has one address of a network has them all.
extension IPAddress {
    /// What one client commands: an IPv4 address, the half of an IPv6 address that one link is given, and all of loopback,
    /// of which every program on this machine has every address.
    public var clientNetwork: AddressBlock { network(v4: 32, v6: 64) }

    /// What one subscriber or site commands: a /24 of IPv4, a /48 of IPv6, and all of loopback. For counting what a client
    /// with many addresses would spread over them.
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
