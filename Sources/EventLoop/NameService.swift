internal import CLibevent
internal import Glibc

/// The ways to look a name up; each may block. `/etc/hosts`, DNS with its times to live, and whatever else the system's
/// name service switch knows (getaddrinfo), whose answers carry no time.
struct NameService: Sendable {
    /// What `/etc/hosts` says. Ports are 0.
    var listed: @Sendable (_ host: String) -> [SocketAddress]
    /// What DNS says; nil where it gave no usable answer.
    var query: @Sendable (_ host: String, _ type: DNSAnswer.RecordType) -> DNSAnswer?
    /// What the system says, in the order to try them.
    var system: @Sendable (_ host: String) -> Result<[SocketAddress], Failure>

    struct Failure: Error {
        /// The system's words.
        let reason: String
    }

    /// How long an answer without a time of its own is kept, in seconds.
    static let unstatedLife: UInt32 = 5

    static let ofSystem = NameService(
        listed: { host in
            guard let file = fopen("/etc/hosts", "re") else { return [] }
            defer { fclose(file) }
            return addresses(of: host, inHosts: file)
        }, query: ask, system: lookUp)

    /// Reads the form of `hosts(5)`: an address and its names on each line.
    static func addresses(of host: String, inHosts file: UnsafeMutablePointer<FILE>) -> [SocketAddress] {
        let lower = host.lowercased()
        let wanted = lower.hasSuffix(".") ? String(lower.dropLast()) : lower
        var addresses: [SocketAddress] = []
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let words = text.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard words.dropFirst().contains(where: { $0.lowercased() == wanted }),
                let address = SocketAddress(numeric: String(words[0]), port: 0), !addresses.contains(address)
            else { continue }
            addresses.append(address)
        }
        return addresses
    }

    private static func ask(_ host: String, _ type: DNSAnswer.RecordType) -> DNSAnswer? {
        // as much as DNS over TCP can bring
        var buffer = [UInt8](repeating: 0, count: 65_535)
        let length = usher_res_search(host, 1, Int32(type.rawValue), &buffer, Int32(buffer.count))
        guard length > 0, Int(length) <= buffer.count else { return nil }
        return DNSAnswer(Array(buffer[..<Int(length)]), wanted: type)
    }

    private static func lookUp(_ host: String) -> Result<[SocketAddress], Failure> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { return .failure(Failure(reason: String(cString: gai_strerror(code)))) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let pointer = entry.pointee.ai_addr, let found = SocketAddress(pointer), !addresses.contains(found) {
                addresses.append(found)
            }
            next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else { return .failure(Failure(reason: "the name has no address")) }
        return .success(addresses)
    }
}
