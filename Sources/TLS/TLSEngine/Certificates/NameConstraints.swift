internal import Addresses
internal import COpenSSL
internal import Formats

/// The names that a CA may certify (RFC 5280 §4.2.1.10), so that a stolen key is of little use. If only DNS names are listed,
/// no address is permitted; if only addresses are, no DNS name.
public struct NameConstraints: Equatable, Sendable {
    /// DNS names in lower case, and addresses in canonical text, without the prefix for a single one. Each once, in the given
    /// order.
    public let entries: [String]
    private let names: [String]
    private let blocks: [AddressBlock]

    /// - Parameter entries: at least one DNS name, address or block (`10.0.0.0/8`). A DNS name permits itself and all names
    ///   below.
    /// - Throws: `MaterialFault` for anything else.
    public init(_ entries: [String]) throws(MaterialFault) {
        var all: [String] = []
        var names: [String] = []
        var blocks: [AddressBlock] = []
        for entry in entries {
            let text: String
            if let block = AddressBlock(entry) {
                text = Self.text(block)
                if !all.contains(text) { blocks.append(block) }
            } else {
                text = try Self.name(entry)
                if !all.contains(text) { names.append(text) }
            }
            if !all.contains(text) { all.append(text) }
        }
        guard !all.isEmpty else { throw MaterialFault("is constrained to nothing; name a host") }
        self.entries = all
        self.names = names
        self.blocks = blocks
    }

    private static func name(_ entry: String) throws(MaterialFault) -> String {
        let bare =
            entry.hasPrefix("*.")
            ? String(entry.dropFirst(2)) : entry.hasPrefix(".") ? String(entry.dropFirst()) : entry
        guard case .name(let name) = CertifiedHost(bare), !name.hasPrefix("*") else {
            throw MaterialFault(
                "cannot be constrained to \(entry), which is not a DNS name, an address or a CIDR block")
        }
        guard bare == entry else {
            throw MaterialFault(
                "cannot be constrained to \(entry); write \(name), which permits every name below it as well")
        }
        return name
    }

    /// True if a certificate for this host is permitted. A name with a leading `*` is permitted if all names that it covers
    /// are.
    public func permits(_ host: String) -> Bool { CertifiedHost(host).map(permits) ?? false }

    func permits(_ host: CertifiedHost) -> Bool {
        switch host {
        case .name(let host): names.contains { host == $0 || host.hasSuffix(".\($0)") }
        case .address(let address): blocks.contains { $0.contains(address) }
        }
    }

    private static func text(_ block: AddressBlock) -> String {
        block.isSingle ? "\(block.base)" : "\(block.base)/\(block.prefix)"
    }

    // MARK: in certificates

    /// The extension's value.
    var encoded: [UInt8] {
        let permitted =
            names.map { DER.value(0x82, Array($0.utf8)) } + blocks.map { Self.encoded($0.base, prefix: $0.prefix) }
        // a kind of name that is not listed would be permitted without limits
        var excluded: [[UInt8]] = []
        if names.isEmpty { excluded.append(DER.value(0x82, [])) }
        // addresses are excluded only if none is permitted: the permitted list suffices, and Java rejects an address that meets
        // an excluded block of the other family
        if blocks.isEmpty {
            excluded += [IPAddress.Family.v4, .v6].map { Self.encoded(IPAddress(family: $0, bits: 0), prefix: 0) }
        }
        func subtrees(_ names: [[UInt8]]) -> [UInt8] { Array(names.map { DER.sequence($0) }.joined()) }
        return DER.sequence(
            DER.context(0, subtrees(permitted)), excluded.isEmpty ? [] : DER.context(1, subtrees(excluded)))
    }

    /// An address and its mask.
    private static func encoded(_ base: IPAddress, prefix: Int) -> [UInt8] {
        let mask = (0..<base.family.width / 8).map { index in
            UInt8(truncatingIfNeeded: 0xFF00 >> min(8, max(0, prefix - index * 8)))
        }
        return DER.value(0x87, base.bytes + mask)
    }

    /// The text of a permitted GeneralName, as in `entries`; nil for kinds other than names and addresses.
    fileprivate static func entry(_ kind: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        switch kind {
        case GEN_DNS: return bytes.contains(0) ? nil : ASCII.lowercased(String(decoding: bytes, as: UTF8.self))
        case GEN_IPADD:
            let half = bytes.count / 2
            guard let base = IPAddress(bytes: bytes.prefix(half)), bytes.count == half * 2 else { return nil }
            let prefix = bytes.dropFirst(half).reduce(0) { $0 + $1.nonzeroBitCount }
            return AddressBlock("\(base)/\(prefix)").map(text)
        default: return nil
        }
    }
}

extension Certificate {
    /// The names and addresses of its constraints, as in `NameConstraints.entries`; empty if it has none.
    public var nameConstraints: [String] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let data = X509_get_ext_d2i(handle, NID_name_constraints, nil, nil) else { return [] }
        let constraints = data.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        let permitted = constraints.pointee.permittedSubtrees
        return (0..<max(0, usher_sk_GENERAL_SUBTREE_num(permitted))).compactMap { index in
            var kind: Int32 = 0
            guard let name = usher_sk_GENERAL_SUBTREE_value(permitted, index)?.pointee.base,
                let value = GENERAL_NAME_get0_value(name, &kind)
            else { return nil }
            return NameConstraints.entry(kind, Self.bytes(of: value))
        }
    }
}
