internal import Formats
internal import HTTPCodec
internal import Interception

/// The test of one filter term. It compares bytes in place and reads only the tested parts.
enum FlowTest: Sendable {
    case part(FlowPart, [Matcher])
    /// The client with or without its port.
    case client([Matcher])
    case scheme([Matcher])
    case port([Matcher])
    case status([Matcher])
    /// The path without the query, as written or in its normal form.
    case path([Matcher])
    /// The request as the client sent it. Names are in lower case.
    case header([UInt8], [Matcher])
    case query([UInt8], [Matcher])
    case cookie([UInt8], [Matcher])
    /// The delivered media type without parameters.
    case contentType([Matcher])
    case id(FlowNumber, [UInt64])
    case hasParent
    case slower(Int)
    case larger(Int)
    case began(ClosedRange<Int>)
    case flagged(FlowFlags)
    /// The name of an interceptor that acted.
    case interceptor([Matcher])
    /// The action of an interceptor.
    case deed([Matcher])

    /// True if the term implies calls by Usher.
    var namesCalls: Bool {
        switch self {
        case .id, .hasParent: true
        default: false
        }
    }

    /// The relative cost. Cheap tests run first.
    var cost: Int {
        switch self {
        case .id, .hasParent, .slower, .larger, .began, .flagged: 0
        case .status, .port, .scheme: 1
        case .part(_, let matchers), .path(let matchers), .client(let matchers), .interceptor(let matchers),
            .deed(let matchers):
            2 + Self.cost(matchers)
        case .query(_, let matchers): 4 + Self.cost(matchers)
        case .header(_, let matchers), .cookie(_, let matchers), .contentType(let matchers): 8 + Self.cost(matchers)
        }
    }

    private static func cost(_ matchers: [Matcher]) -> Int {
        matchers.contains { if case .pattern = $0 { true } else { false } } ? 100 : 0
    }

    func holds(for flow: borrowing PackedFlow) -> Bool {
        switch self {
        case .part(let part, let matchers):
            let range = flow.range(of: part)
            return !range.isEmpty && Self.takes(flow.bytes.span.extracting(range), matchers)
        case .client(let matchers): return client(of: flow, matchers)
        case .scheme(let matchers):
            switch flow[.scheme] {
            case 1: return Self.takes("http", matchers)
            case 2: return Self.takes("https", matchers)
            default: return false
            }
        case .port(let matchers): return Self.takes(flow[.port], matchers)
        case .status(let matchers): return Self.takes(flow[.status], matchers)
        case .path(let matchers): return path(of: flow, matchers)
        case .header(let name, let matchers):
            return FlowFields(flow.bytes, flow.range(of: .request)).contains(name) { Self.takes($0, matchers) }
        case .query(let name, let matchers): return query(of: flow, name, matchers)
        case .cookie(let name, let matchers): return cookie(of: flow, name, matchers)
        case .contentType(let matchers): return contentType(of: flow, matchers)
        case .id(let number, let ids): return ids.contains(UInt64(bitPattern: Int64(flow[number])))
        case .hasParent: return flow[.parent] != 0
        case .slower(let milliseconds): return flow[.duration] >= milliseconds
        case .larger(let bytes): return flow[.requestBytes] >= bytes || flow[.responseBytes] >= bytes
        case .began(let range): return range.contains(flow[.began])
        case .flagged(let flags): return !flow.flags.isDisjoint(with: flags)
        case .interceptor(let matchers):
            return FlowFields.pairs(flow.bytes, flow.range(of: .interceptors), at: ASCII.lf) { line in
                let name = Self.name(flow.bytes, line)
                return Self.takes(flow.bytes.span.extracting(name), matchers)
            }
        case .deed(let matchers):
            return FlowFields.pairs(flow.bytes, flow.range(of: .interceptors), at: ASCII.lf) { line in
                let deeds = line.lowerBound..<max(line.lowerBound, Self.name(flow.bytes, line).lowerBound - 1)
                return FlowFields.pairs(flow.bytes, deeds, at: 0x2C) { deed in
                    Self.takes(flow.bytes.span.extracting(deed), matchers)
                }
            }
        }
    }

    // MARK: values

    private static func takes(_ value: Span<UInt8>, _ matchers: [Matcher]) -> Bool {
        for matcher in matchers where matcher.accepts(value) { return true }
        return false
    }

    private static func takes(_ value: String, _ matchers: [Matcher]) -> Bool {
        takes(value.utf8.span, matchers)
    }

    private static func takes(_ number: Int, _ matchers: [Matcher]) -> Bool {
        guard number != 0 else { return false }
        for matcher in matchers {
            if case .range(let range) = matcher {
                if range.contains(number) { return true }
            } else if takes(String(number), [matcher]) {
                return true
            }
        }
        return false
    }

    /// Matches `127.0.0.1:49152` or `[::1]:49152`, and the address alone.
    private func client(of flow: borrowing PackedFlow, _ matchers: [Matcher]) -> Bool {
        let whole = flow.range(of: .client)
        let span = flow.bytes.span
        if Self.takes(span.extracting(whole), matchers) { return true }
        return flow.addressRange.map { Self.takes(span.extracting($0), matchers) } ?? false
    }

    /// The range of the name in a line of `FlowPart.interceptors`.
    private static func name(_ bytes: [UInt8], _ line: Range<Int>) -> Range<Int> {
        let space = bytes.span.near(line.lowerBound, line.upperBound) { $0.equal(to: ASCII.space) }
        return min(space + 1, line.upperBound)..<line.upperBound
    }

    // MARK: parts of a target

    private func path(of flow: borrowing PackedFlow, _ matchers: [Matcher]) -> Bool {
        let target = flow.range(of: .target)
        let span = flow.bytes.span
        let end = span.near(target.lowerBound, target.upperBound) { $0.equal(to: 0x3F) }
        guard end > target.lowerBound else { return flow[.scheme] != 0 && Self.takes("/", matchers) }
        if Self.takes(span.extracting(target.lowerBound..<end), matchers) { return true }
        let range = ByteRange(start: target.lowerBound, end: end)
        guard NormalPath.mayDiffer(span, range) else { return false }
        return Self.takes(NormalPath.of(flow.bytes[range.indices]).span, matchers)
    }

    private func query(of flow: borrowing PackedFlow, _ name: [UInt8], _ matchers: [Matcher]) -> Bool {
        let target = flow.range(of: .target)
        let span = flow.bytes.span
        let mark = span.near(target.lowerBound, target.upperBound) { $0.equal(to: 0x3F) }
        guard mark < target.upperBound else { return false }
        return FlowFields.pairs(flow.bytes, mark + 1..<target.upperBound, at: 0x26) { pair in
            let equals = span.near(pair.lowerBound, pair.upperBound) { $0.equal(to: 0x3D) }
            guard Self.decoded(flow.bytes, pair.lowerBound..<equals, { FlowFields.equal($0, name) }) else {
                return false
            }
            let value = min(equals + 1, pair.upperBound)..<pair.upperBound
            return Self.decoded(flow.bytes, value) { Self.takes($0, matchers) }
        }
    }

    /// Decodes a value; without escapes there is no copy.
    private static func decoded(_ bytes: [UInt8], _ range: Range<Int>, _ body: (Span<UInt8>) -> Bool) -> Bool {
        guard bytes[range].contains(where: { $0 == 0x25 || $0 == 0x2B }) else {
            return body(bytes.span.extracting(range))
        }
        return body(PercentCoding.decodeBytes(bytes[range], plusAsSpace: true).span)
    }

    // MARK: parts of heads

    private func cookie(of flow: borrowing PackedFlow, _ name: [UInt8], _ matchers: [Matcher]) -> Bool {
        let fields = FlowFields(flow.bytes, flow.range(of: .request))
        return fields.containsRange(Self.cookieField) { line in
            FlowFields.pairs(flow.bytes, line, at: 0x3B) { pair in
                let pair = FlowFields.trimmed(flow.bytes, pair)
                let span = flow.bytes.span
                let equals = span.near(pair.lowerBound, pair.upperBound) { $0.equal(to: 0x3D) }
                guard FlowFields.equal(span.extracting(pair.lowerBound..<equals), name) else { return false }
                return Self.takes(span.extracting(min(equals + 1, pair.upperBound)..<pair.upperBound), matchers)
            }
        }
    }

    private func contentType(of flow: borrowing PackedFlow, _ matchers: [Matcher]) -> Bool {
        let fields = FlowFields(flow.bytes, flow.range(of: .response))
        return fields.containsRange(Self.contentTypeField) { line in
            let span = flow.bytes.span
            let end = span.near(line.lowerBound, line.upperBound) { $0.equal(to: 0x3B) }
            let type = FlowFields.trimmed(flow.bytes, line.lowerBound..<end)
            return Self.takes(span.extracting(type), matchers)
        }
    }

    private static let cookieField = Array("cookie".utf8)
    private static let contentTypeField = Array("content-type".utf8)
}
