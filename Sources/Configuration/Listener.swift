public import HTTPCodec
public import ProxyCore

/// One address to listen on.
public struct Listener: Hashable, Sendable {
    public var address: IPAddress
    /// 0: the system picks a free one.
    public var port: UInt16

    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads `127.0.0.1:3128` and `[::1]:3128`; nil for anything else, names included.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
        else { return nil }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard let address = IPAddress(host.dropFirst().dropLast()), address.family == .v6 else { return nil }
            self.init(address: address, port: port)
        } else {
            guard let address = IPAddress(host), address.family == .v4 else { return nil }
            self.init(address: address, port: port)
        }
    }

    /// The address as text, without brackets.
    public var host: String { address.description }
}

extension Listener: CustomStringConvertible {
    public var description: String { address.text(withPort: port) }
}
