internal import Formats
internal import HTTPCodec

/// A bit pattern of a condition's requirements on method, host, path and fields. It skips a rule after at most four comparisons.
///
/// A gate may admit a request that its condition refuses, but never the reverse.
struct RequestGate: Sendable {
    /// One bit per `Method`.
    private var methods = UInt16.max
    /// One bit per hash of a host.
    private var hosts = UInt64.max
    /// More bits of the hash if there is exactly one host; else 0.
    private var host: UInt64 = 0
    /// The required beginning of the path: `mask` selects the bits to compare.
    private var path: (mask: UInt64, bits: UInt64) = (0, 0)
    private var fields = FieldMarks()
    /// The same requirements in short: bits that a request must have. A bit in `Traits.absent` shuts the gate.
    private(set) var demand: UInt64 = 0

    init(_ condition: Condition) {
        read(condition)
        switch condition {
        case .all, .any: break
        default: demand = brief
        }
    }

    private mutating func read(_ condition: Condition) {
        switch condition {
        case .always, .not: break
        case .all(let parts): for part in parts { self = and(RequestGate(part)) }
        case .any(let parts):
            guard let first = parts.first else { return }
            self = parts.dropFirst().reduce(RequestGate(first)) { $0.or(RequestGate($1)) }
        case .test(.method, let matchers):
            guard let names = Self.texts(matchers) else { return }
            methods = names.reduce(0) { $0 | Self.bit(Method($1)) }
        case .test(.host, let matchers):
            guard let names = Self.texts(matchers) else { return }
            let hashes = names.map { Self.hash(host: Array($0.utf8).span) }
            hosts = hashes.reduce(0) { $0 | Self.bit(host: $1) }
            if let first = hashes.first, hashes.allSatisfy({ $0 == first }) { host = first }
        case .test(.path, let matchers):
            guard let first = matchers.first else { return }
            path = matchers.dropFirst().reduce(Self.beginning(first)) { Self.shared($0, Self.beginning($1)) }
        case .test(.header(let name), _): fields = FieldMarks(named: name)
        case .test(.platform, _): fields = FieldMarks(named: Subject.platformField)
        case .test(.cookie, _): fields = FieldMarks(named: "cookie")
        case .test: break
        }
    }

    /// The texts of exact matchers; nil if a matcher accepts more than one text.
    private static func texts(_ matchers: [TextMatcher]) -> [String]? {
        var texts: [String] = []
        for matcher in matchers {
            guard case .exact(let text) = matcher else { return nil }
            texts.append(text)
        }
        return texts
    }

    private func and(_ other: RequestGate) -> RequestGate {
        var both = self
        both.methods &= other.methods
        both.hosts &= other.hosts
        if other.host != 0 { both.host = other.host }
        if other.path.mask.nonzeroBitCount > path.mask.nonzeroBitCount { both.path = other.path }
        both.fields = fields.union(other.fields)
        both.demand = demand | other.demand
        return both
    }

    private func or(_ other: RequestGate) -> RequestGate {
        var either = self
        either.methods |= other.methods
        either.hosts |= other.hosts
        if other.host != host { either.host = 0 }
        either.path = Self.shared(path, other.path)
        either.fields = fields.intersection(other.fields)
        either.demand = demand & other.demand
        return either
    }

    private static func bit(_ method: Method) -> UInt16 { 1 &<< UInt16(method.rawValue) }

    /// A case-insensitive hash of the length and a few letters. Never 0.
    private static func hash(host: Span<UInt8>) -> UInt64 {
        guard !host.isEmpty else { return 1 }
        var hash = UInt64(host.count)
        for index in [0, host.count / 4, host.count / 2, host.count - 1] {
            hash = hash &* 37 &+ UInt64(ASCII.lower(host[index]))
        }
        return hash &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    /// Takes the upper bits of the product, which are well mixed.
    private static func bit(host hash: UInt64) -> UInt64 { 1 &<< (hash &>> 58) }

    // MARK: short form

    /// Ten bits of the method, eleven of the host, eleven of the path's beginning; the rest are for field names.
    private var brief: UInt64 {
        var brief = UInt64(fields.digest) &<< 32
        if methods.nonzeroBitCount == 1 { brief |= UInt64(methods) }
        if hosts.nonzeroBitCount == 1 { brief |= Self.brief(host: hosts) }
        if path.mask & 0xFF_FFFF == 0xFF_FFFF { brief |= Self.brief(path: path.bits) }
        return brief
    }

    private static func brief(host: UInt64) -> UInt64 { 1 &<< UInt64(10 + host.trailingZeroBitCount % 11) }

    /// The two bytes after the first one, which is nearly always a slash.
    private static func brief(path: UInt64) -> UInt64 {
        let mixed = (path &>> 8 & 0xFFFF) &* 0x9E37_79B9_7F4A_7C15
        return 1 &<< (21 + (mixed &>> 32) % 11)
    }

    // MARK: paths

    /// The first eight bytes in little-endian order; 0 if there are fewer.
    private static func word(_ path: Span<UInt8>) -> UInt64 {
        if path.count >= 8 {
            return UInt64(littleEndian: path.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self))
        }
        var word: UInt64 = 0
        for index in path.indices { word |= UInt64(path[index]) &<< UInt64(8 * index) }
        return word
    }

    private static func beginning(_ matcher: TextMatcher) -> (mask: UInt64, bits: UInt64) {
        switch matcher {
        case .exact(let text): return (.max, word(Array(text.utf8).span))
        case .glob(let text):
            let plain = Array(text.utf8.prefix { $0 != UInt8(ascii: "*") })
            let mask = plain.count >= 8 ? UInt64.max : 1 &<< UInt64(8 * plain.count) &- 1
            return (mask, word(plain.span))
        case .pattern, .range: return (0, 0)
        }
    }

    /// Whether the gate looks at the path, in full or in short.
    var asksPath: Bool { path.mask != 0 || demand &>> 21 & 0x7FF != 0 }

    /// The common part of two beginnings.
    private static func shared(
        _ left: (mask: UInt64, bits: UInt64), _ right: (mask: UInt64, bits: UInt64)
    ) -> (mask: UInt64, bits: UInt64) {
        let mask = left.mask & right.mask & ~(left.bits ^ right.bits)
        return (mask, left.bits & mask)
    }

    /// The properties of a request that gates compare.
    struct Traits {
        fileprivate let method: UInt16
        fileprivate let hosts: UInt64
        fileprivate let host: UInt64
        fileprivate let path: UInt64
        fileprivate let fields: FieldMarks
        /// The bits of `demand` that the request lacks.
        let absent: UInt64

        /// - Parameter paths: true if some gate looks at the path.
        init(_ head: borrowing RequestHead, paths: Bool = true) {
            method = RequestGate.bit(head.method)
            host = RequestGate.hash(host: head.fields.bytes.span.extracting(head.target.host.indices))
            hosts = RequestGate.bit(host: host)
            let range = head.target.path
            if !paths {
                path = 0
            } else if range.isEmpty {
                path = 0x2F
            } else if NormalPath.mayDiffer(head.fields.bytes.span, range) {
                path = RequestGate.word(NormalPath.of(head.fields.bytes[range.indices]).span)
            } else {
                path = RequestGate.word(head.fields.bytes.span.extracting(range.indices))
            }
            fields = head.fields.marks
            let present =
                UInt64(method) | RequestGate.brief(host: hosts) | RequestGate.brief(path: path)
                | UInt64(fields.digest) &<< 32
            absent = ~present
        }
    }

    func admits(_ traits: Traits) -> Bool {
        methods & traits.method != 0 && hosts & traits.hosts != 0 && (host == 0 || host == traits.host)
            && traits.path & path.mask == path.bits && traits.fields.mayHold(fields)
    }
}
