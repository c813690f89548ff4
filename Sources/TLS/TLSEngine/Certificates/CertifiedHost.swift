internal import Addresses
internal import Formats

/// The name or address in a server certificate.
enum CertifiedHost: Equatable {
    /// A DNS name in lower case without a final dot. Its first label may be `*`.
    case name(String)
    case address(IPAddress)

    /// - Parameter text: a name in its ASCII form (RFC 5890 §2.3.2.1), or an address, IPv6 with or without brackets. Names with
    ///   an underscore are accepted, because some are in use.
    /// - Returns: nil for anything else.
    init?(_ text: String) {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        if let address = IPAddress(isBracketed ? text.dropFirst().dropLast() : text[...]) {
            guard !isBracketed || address.family == .v6 else { return nil }
            self = .address(address)
            return
        }
        let name = HostName.normalized(text)
        if let address = IPAddress(name) {
            self = .address(address)
            return
        }
        guard (1...HostName.maxLength).contains(name.utf8.count) else { return nil }
        for (index, label) in name.utf8.split(separator: 0x2E, omittingEmptySubsequences: false).enumerated() {
            if index == 0, label.elementsEqual([0x2A]), name.utf8.count > 1 { continue }
            guard (1...63).contains(label.count),
                label.allSatisfy({ ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x5F })
            else { return nil }
        }
        self = .name(name)
    }

    /// GeneralName of RFC 5280 §4.2.1.6.
    var generalName: [UInt8] {
        switch self {
        case .name(let name): DER.value(0x82, Array(name.utf8))
        case .address(let address): DER.value(0x87, address.bytes)
        }
    }

    /// The common name of a subject for this host. Nil for an address: some clients would check it as a DNS name against the
    /// CA's constraints. Nil for a name that is too long (`ub-common-name`, RFC 5280 appendix A.1).
    var commonName: String? {
        guard case .name(let name) = self, name.utf8.count <= 64 else { return nil }
        return name
    }
}
