import Glibc

/// Blocking sockets on loopback for the tests of every room, as numbers that the caller closes.
public enum TestSocket {
    public struct Trouble: Error {
        public let call: String
        public let code: Int32
    }

    /// Connected to that port.
    /// - Parameter receiveBuffer: bytes that the kernel takes in unread; 0 for as many as it likes.
    public static func connected(to port: UInt16, isIPv6: Bool = false, receiveBuffer: Int32 = 0) throws -> Int32 {
        let number = try opened(SOCK_STREAM, isIPv6)
        if receiveBuffer > 0 {
            var size = receiveBuffer
            setsockopt(number, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        return try checked(number, "connect", address(port, isIPv6) { Glibc.connect(number, $0, $1) })
    }

    /// Listens on a port that was free.
    public static func listening() throws -> (number: Int32, port: UInt16) {
        let number = try bound(SOCK_STREAM, 0)
        let port = try port(of: number)
        return (try checked(number, "listen", listen(number, 4096)), port)
    }

    /// A pair for one service over TCP, where it listens, and UDP, on one port that was free for both.
    public static func listeningForBoth() throws -> (tcp: Int32, udp: Int32, port: UInt16) {
        while true {
            let (tcp, port) = try listening()
            do {
                return (tcp, try bound(SOCK_DGRAM, port), port)
            } catch let trouble as Trouble {
                close(tcp)
                // somebody else has that one over UDP; there are thousands of others
                guard trouble.code == EADDRINUSE else { throw trouble }
            }
        }
    }

    private static func opened(_ type: __socket_type, _ isIPv6: Bool = false) throws -> Int32 {
        let number = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw Trouble(call: "socket", code: errno) }
        return number
    }

    private static func bound(_ type: __socket_type, _ port: UInt16) throws -> Int32 {
        let number = try opened(type)
        return try checked(number, "bind", address(port, false) { bind(number, $0, $1) })
    }

    private static func checked(_ number: Int32, _ call: String, _ result: Int32) throws -> Int32 {
        guard result != 0 else { return number }
        let code = errno
        close(number)
        throw Trouble(call: call, code: code)
    }

    private static func port(of number: Int32) throws -> UInt16 {
        var four = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &four) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) }
        }
        _ = try checked(number, "getsockname", result)
        return UInt16(bigEndian: four.sin_port)
    }

    private static func address(
        _ port: UInt16, _ isIPv6: Bool, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        func call<Address>(_ address: Address) -> Int32 {
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }
        if isIPv6 {
            var six = sockaddr_in6()
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            six.sin6_addr = in6addr_loopback
            return call(six)
        }
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = port.bigEndian
        four.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return call(four)
    }
}
