internal import CLibevent
internal import Glibc

/// Looks names up; may block. `/etc/hosts` first, then DNS with its times to live, then whatever else the system's name
/// service switch knows (getaddrinfo), whose answers carry no time.
struct NameService {
    struct Found {
        var addresses: [[UInt8]]
        /// Seconds.
        var timeToLive: UInt32
    }

    /// How long an answer without a time of its own is kept, in seconds.
    static let unstatedLife: UInt32 = 5

    static func lookUp(_ host: String) -> Result<Found, Failure> {
        let listed = hostsFile(host)
        if !listed.isEmpty { return .success(Found(addresses: listed, timeToLive: unstatedLife)) }
        let six = query(host, .aaaa)
        let four = query(host, .a)
        let addresses = (six?.addresses ?? []) + (four?.addresses ?? [])
        if !addresses.isEmpty {
            let life = min(six?.timeToLive ?? .max, four?.timeToLive ?? .max)
            return .success(Found(addresses: addresses, timeToLive: life))
        }
        return systemLookUp(host)
    }

    struct Failure: Error {
        /// The system's words.
        let reason: String
    }

    private static func query(_ host: String, _ type: DNSAnswer.RecordType) -> DNSAnswer? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let length = usher_res_search(host, 1, Int32(type.rawValue), &buffer, Int32(buffer.count))
        guard length > 0, Int(length) <= buffer.count else { return nil }
        return DNSAnswer(Array(buffer[..<Int(length)]), wanted: type)
    }

    private static func hostsFile(_ host: String) -> [[UInt8]] {
        guard let file = fopen("/etc/hosts", "re") else { return [] }
        defer { fclose(file) }
        let wanted = host.lowercased()
        var addresses: [[UInt8]] = []
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let words = text.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\n" }
            guard words.dropFirst().contains(where: { $0.lowercased() == wanted }),
                let address = SocketAddress(numeric: String(words[0]), port: 0)
            else { continue }
            addresses.append(address.address)
        }
        return addresses
    }

    private static func systemLookUp(_ host: String) -> Result<Found, Failure> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { return .failure(Failure(reason: String(cString: gai_strerror(code)))) }
        defer { freeaddrinfo(list) }
        var addresses: [[UInt8]] = []
        var next = list
        while let entry = next {
            if let pointer = entry.pointee.ai_addr, let found = SocketAddress(pointer),
                !addresses.contains(found.address)
            {
                addresses.append(found.address)
            }
            next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else { return .failure(Failure(reason: "the name has no address")) }
        return .success(Found(addresses: addresses, timeToLive: unstatedLife))
    }
}
