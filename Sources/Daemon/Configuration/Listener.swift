public import Addresses

/// An address to listen on.
public struct Listener: Hashable, Sendable {
    public var address: IPAddress
    /// 0 lets the system choose a free port.
    public var port: UInt16
    /// True for a TLS listener, whose proxy URL begins with `https://`.
    public var isSecure: Bool

    public init(address: IPAddress, port: UInt16, isSecure: Bool = false) {
        self.address = address
        self.port = port
        self.isSecure = isSecure
    }

    /// Parses `127.0.0.1:3128` or `[::1]:3128`, optionally after `http://`, or after `https://` for TLS. Nil for anything else,
    /// including host names.
    public init?(_ written: some StringProtocol) {
        let isSecure = written.hasPrefix(Self.secureScheme)
        let text = written.dropFirst(
            isSecure ? Self.secureScheme.count : written.hasPrefix(Self.plainScheme) ? Self.plainScheme.count : 0)
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
        else { return nil }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard let address = IPAddress(host.dropFirst().dropLast()), address.family == .v6 else { return nil }
            self.init(address: address, port: port, isSecure: isSecure)
        } else {
            guard let address = IPAddress(host), address.family == .v4 else { return nil }
            self.init(address: address, port: port, isSecure: isSecure)
        }
    }

    /// The address without brackets.
    public var host: String { address.description }

    private static let plainScheme = "http://"
    fileprivate static let secureScheme = "https://"
}

extension Listener: CustomStringConvertible {
    public var description: String { (isSecure ? Self.secureScheme : "") + address.text(withPort: port) }
}
