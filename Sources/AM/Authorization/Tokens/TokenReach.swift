internal import Formats
internal import HTTPCodec

/// A simple URL glob that can be compared with the bytes of a head. It has one host, or a domain's subdomains, and a path up to a
/// star. It is a fast path of the whole glob and says when it cannot decide.
struct TokenReach: Sendable {
    private let scheme: Target.Scheme
    /// In lower case, with the leading dot for a domain.
    private let host: [UInt8]
    private let isDomain: Bool
    private let port: UInt16
    /// The prefix of paths, or the whole path if `isWhole`.
    private let path: [UInt8]
    private let isWhole: Bool

    /// Nil for other kinds of globs.
    init?(_ glob: String) {
        guard !glob.utf8.contains(0x25), let colon = glob.firstRange(of: "://") else { return nil }
        switch ASCII.lowercased(String(glob[..<colon.lowerBound])) {
        case "http": scheme = .http
        case "https": scheme = .https
        default: return nil
        }
        let rest = glob[colon.upperBound...]
        let slash = rest.utf8.firstIndex(of: 0x2F) ?? rest.endIndex
        var authority = rest[..<slash]
        isDomain = authority.hasPrefix("*.")
        if isDomain { authority = authority.dropFirst() }
        var path = Array(rest[slash...].utf8)
        isWhole = path.last != 0x2A
        if !isWhole { path.removeLast() }
        guard path.first == 0x2F, !path.contains(0x2A), !path.contains(0x3F), !authority.utf8.contains(0x2A),
            let head = try? RequestHead(method: "GET", url: "\(scheme.name)://\(isDomain ? "a" : "")\(authority)/"),
            PathReading.isPlain(path.span, path.indices)
        else { return nil }
        host = Array(head.host.utf8.dropFirst(isDomain ? 1 : 0))
        port = head.target.port
        self.path = path
    }

    /// Nil if it cannot decide, because servers may read the path differently.
    func covers(_ head: borrowing RequestHead) -> Bool? {
        let target = head.target
        let bytes = head.fields.bytes.span
        let range = target.host
        guard target.scheme == scheme, target.port == port,
            isDomain ? Int(range.count) > host.count : Int(range.count) == host.count,
            bytes.holds(text: host.span, at: range.upper - host.count)
        else { return false }
        guard !target.path.isEmpty, PathReading.isPlain(bytes, target.path.indices) else { return nil }
        let whole = target.pathAndQuery
        guard isWhole ? Int(whole.count) == path.count : Int(whole.count) >= path.count else { return false }
        for index in path.indices where bytes[whole.lower &+ index] != path[index] { return false }
        return true
    }
}

extension RequestHead {
    /// True if there is one Host field and it equals the target's authority byte for byte.
    var hasHostOfItsTarget: Bool {
        guard let index = fields.first(.host) else { return false }
        let value = fields.slots[index].value
        guard value.count == target.authority.count,
            fields.bytes.span.holds(value.lower, target.authority.lower, count: Int(value.count))
        else { return false }
        return !fields.slots[(index + 1)...].contains { $0.known == .host }
    }
}
