public import HTTPCodec

/// Whom an authority may speak for (RFC 5280 §4.2.1.10): DNS names, each with all names below it, and addresses. Where no
/// name is given, no name is permitted, and where no address is given, none.
public struct NameConstraints: Equatable, Sendable {
    /// As they were written, names in lower case.
    public let entries: [String]
    private let names: [String]
    private let blocks: [AddressBlock]

    /// - Parameter entries: DNS names, addresses and CIDR blocks.
    /// - Throws: `MaterialFault` for one that is none of them, or where there is none.
    public init(_ entries: [String]) throws(MaterialFault) {
        guard !entries.isEmpty else { throw MaterialFault("permits nothing") }
        var names: [String] = []
        var blocks: [AddressBlock] = []
        for entry in entries {
            if let block = AddressBlock(entry) {
                blocks.append(block)
            } else {
                let name = ASCII.lowercased(entry)
                guard HostName.isValid(name), !name.contains("*") else {
                    throw MaterialFault("holds \"\(entry)\", which is neither a domain such as example.com nor an address or block")
                }
                names.append(name)
            }
        }
        self.entries = entries.map { ASCII.lowercased($0) }
        self.names = names
        self.blocks = blocks
    }

    /// - Parameter host: a name, or an address without brackets.
    public func permits(_ host: String) -> Bool {
        if let address = IPAddress(host) { return blocks.contains { $0.contains(address) } }
        let name = ASCII.lowercased(host.hasPrefix("*.") ? String(host.dropFirst(2)) : host)
        return names.contains { name == $0 || name.hasSuffix("." + $0) }
    }

    /// Whether every address of the block may be spoken for.
    public func permits(_ block: AddressBlock) -> Bool { blocks.contains { $0.contains(block) } }

    /// The value of the extension.
    var der: [UInt8] {
        let permitted = names.flatMap { Self.subtree(0x82, Array($0.utf8)) } + blocks.flatMap { Self.subtree(0x87, Self.bytes($0)) }
        var excluded: [UInt8] = []
        if names.isEmpty { excluded += Self.subtree(0x82, []) }
        // a list that names addresses of one family alone leaves the other one out
        for family in [IPAddress.Family.v4, .v6] where !blocks.contains(where: { $0.base.family == family }) {
            excluded += Self.subtree(0x87, [UInt8](repeating: 0, count: family.width / 4))
        }
        return DER.sequence(
            DER.value(0xA0, permitted) + (excluded.isEmpty ? [] : DER.value(0xA1, excluded)))
    }

    private static func subtree(_ tag: UInt8, _ base: [UInt8]) -> [UInt8] { DER.sequence(DER.value(tag, base)) }

    /// The address and its mask.
    private static func bytes(_ block: AddressBlock) -> [UInt8] {
        let mask = (0..<block.base.family.width / 8).map { index -> UInt8 in
            let bits = min(8, max(0, block.prefix - index * 8))
            return UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
        return block.base.bytes + mask
    }
}
