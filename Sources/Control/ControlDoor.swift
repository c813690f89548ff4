internal import Addresses

/// By which way somebody came, and so who may ask.
public enum ControlDoor: Sendable {
    /// The Unix socket: its file says who reaches it.
    case local
    /// A TCP port: everybody on the machine, or beyond, reaches it, and so does every page in a browser there.
    case network(Network)

    public struct Network: Sendable {
        /// Of this end of the connection.
        public var address: String
        public var token: ControlToken

        public init(address: String, token: ControlToken) {
            self.address = address
            self.token = token
        }
    }
}

/// What who asks by TCP has to show (RFC 6750).
public struct ControlToken: Equatable, Sendable {
    private let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Takes as long for every guess of one length, wherever it is wrong.
    func isEqual(_ given: some Collection<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return false }
        var difference = given.count ^ bytes.count
        var index = 0
        for byte in given {
            difference |= Int(byte ^ bytes[index])
            index &+= 1
            if index == bytes.count { index = 0 }
        }
        return difference == 0
    }

    /// What of a token may stand in `Authorization` (RFC 6750 §2.1).
    public static func isSendable(_ bytes: some Collection<UInt8>) -> Bool {
        let text = bytes.prefix { byte in
            (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._~+/".utf8.contains(byte)
        }
        return !text.isEmpty && bytes.dropFirst(text.count).allSatisfy { $0 == 0x3D }
    }
}
