import EventLoop

/// What the text of a file in the form of hosts(5) says: names, each with its addresses in the file's order.
final class HostsTable: Sendable {
    struct Limits {
        /// A text of this length may go on where nobody has read.
        var bytes = 16 << 20
        var names = 500_000
        var addressesPerName = 64
    }

    private let addresses: [String: [SocketAddress]]
    /// What was left out and why, for a person; nil where nothing was.
    let remark: String?

    init(_ text: [UInt8] = [], _ limits: Limits = Limits()) {
        var reader = HostsReader(limits)
        // the last line may be cut off there
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

    /// - Parameter name: in any case, with a dot at its end or without.
    func addresses(of name: String) -> [SocketAddress]? {
        // that file knows no dot that ends a name
        addresses[(name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()]
    }
}

private struct HostsReader {
    private let limits: HostsTable.Limits
    var addresses: [String: [SocketAddress]] = [:]
    /// There were more names than there may be.
    var isFull = false
    /// Most lines of a long file bear the same address: it is read once, and its list is one.
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
