import EventLoop

/// The names of a file in the format of hosts(5), each with its addresses in the file's order.
final class HostsTable: Sendable {
    struct Limits {
        /// The limit in bytes. A text of this length may have been cut.
        var bytes = 16 << 20
        var names = 500_000
        var addressesPerName = 64
    }

    private let addresses: [String: [SocketAddress]]
    /// A warning about omitted entries and the reason; nil if none were omitted.
    let remark: String?

    init(_ text: [UInt8] = [], _ limits: Limits = Limits()) {
        var reader = HostsReader(limits)
        // the last line may be cut
        let isCut = text.count >= limits.bytes
        let end = isCut ? (text.lastIndex(of: UInt8(ascii: "\n")) ?? 0) : text.count
        text[..<end].withUnsafeBufferPointer { reader.read($0) }
        addresses = reader.addresses
        if isCut {
            remark = "what stands behind its first \(limits.bytes >> 20) MiB is not read"
        } else if reader.isFull {
            remark = "names beyond the first \(limits.names) are not read"
        } else {
            remark = nil
        }
    }

    /// - Parameter name: in any letter case, with or without a final dot.
    func addresses(of name: String) -> [SocketAddress]? {
        // the file has no final dots
        addresses[(name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()]
    }
}

private struct HostsReader {
    private let limits: HostsTable.Limits
    var addresses: [String: [SocketAddress]] = [:]
    /// Whether the file has more names than the limit.
    var isFull = false
    /// The address of the last line and its list. Most lines of a long file repeat the address, so they share one list.
    private var last: (text: String, list: [SocketAddress]) = ("", [])

    init(_ limits: HostsTable.Limits) { self.limits = limits }

    mutating func read(_ text: UnsafeBufferPointer<UInt8>) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            guard words.count > 1 else { continue }
            let address = String(decoding: words[0], as: UTF8.self)
            if address != last.text {
                last = (address, SocketAddress(numeric: address, port: 0).map { [$0] } ?? [])
            }
            guard let first = last.list.first else { continue }
            for word in words.dropFirst() { add(String(decoding: word, as: UTF8.self).lowercased(), first) }
        }
    }

    private mutating func add(_ name: String, _ address: SocketAddress) {
        guard let known = addresses[name] else {
            if addresses.count < limits.names { addresses[name] = last.list } else { isFull = true }
            return
        }
        if known.count < limits.addressesPerName, !known.contains(address) { addresses[name]?.append(address) }
    }
}
