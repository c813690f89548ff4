public import Glibc

/// An IPv4 or IPv6 address with a port, for system calls.
public struct SocketAddress: Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The 4 or 16 bytes in network order.
    public let address: [UInt8]
    public let port: UInt16
    /// The interface of a link-local IPv6 address; 0 for others.
    public let scope: UInt32

    public init(address: [UInt8], port: UInt16, scope: UInt32 = 0) {
        precondition(address.count == 4 || address.count == 16, "an address has 4 or 16 bytes")
        self.address = address
        self.port = port
        self.scope = scope
    }

    /// Parses a numeric address such as `127.0.0.1` or `::1`; nil for a name.
    public init?(numeric host: String, port: UInt16) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            self.init(address: withUnsafeBytes(of: four) { Array($0) }, port: port)
        } else if inet_pton(AF_INET6, host, &six) == 1 {
            self.init(address: withUnsafeBytes(of: six) { Array($0) }, port: port)
        } else {
            return nil
        }
    }

    public init?(_ pointer: UnsafePointer<sockaddr>) {
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            self = pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { four in
                SocketAddress(
                    address: withUnsafeBytes(of: four.pointee.sin_addr) { Array($0) },
                    port: UInt16(bigEndian: four.pointee.sin_port))
            }
        case AF_INET6:
            self = pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { six in
                SocketAddress(
                    address: withUnsafeBytes(of: six.pointee.sin6_addr) { Array($0) },
                    port: UInt16(bigEndian: six.pointee.sin6_port), scope: six.pointee.sin6_scope_id)
            }
        default: return nil
        }
    }

    public var isIPv6: Bool { address.count == 16 }
    public var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }

    /// The address without the port, such as `127.0.0.1` or `::1`.
    public var host: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = address.withUnsafeBytes { inet_ntop(family, $0.baseAddress, &buffer, socklen_t(buffer.count)) }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        if isIPv6 {
            var six = sockaddr_in6()
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            six.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &six.sin6_addr) { $0.copyBytes(from: address) }
            return withUnsafePointer(to: &six) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &four.sin_addr) { $0.copyBytes(from: address) }
        return withUnsafePointer(to: &four) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The local address of a socket; nil if it is no IP address.
    public init?(ofSocket number: Int32) {
        guard let found = Self.filled(by: { getsockname(number, $0, $1) }) else { return nil }
        self = found
    }

    static func filled(by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32)
        -> SocketAddress?
    {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                call(address, &length) == 0 ? SocketAddress(address) : nil
            }
        }
    }
}
