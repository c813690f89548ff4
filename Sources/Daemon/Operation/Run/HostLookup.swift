import EventLoop
import Glibc

/// The system's blocking lookup of a host's addresses.
enum HostLookup {
    /// - Returns: the addresses, and the error of `getaddrinfo`, or 0.
    static func addresses(_ host: String, port: UInt16, flags: Int32 = 0) -> (found: [SocketAddress], code: Int32) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = flags
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &first)
        guard code == 0 else { return ([], code) }
        defer { freeaddrinfo(first) }
        var found: [SocketAddress] = []
        var next = first
        while let entry = next?.pointee {
            if let pointer = entry.ai_addr, let address = SocketAddress(pointer) { found.append(address) }
            next = entry.ai_next
        }
        return (found, 0)
    }
}
