internal import Formats
internal import HTTPCodec

/// The input of conditions: a request, its classification, and its response or error. Values are visited as bytes in place and
/// are not copied.
struct Subject {
    let request: RequestHead
    let response: ResponseHead?
    let classification: Classification?
    var error: OriginFault?
    /// True if only the request is known and its response may still come.
    var isEarly = false

    static let platformField = "x-requested-platform"

    /// True if `accepts` accepts one of the key's values. A missing value is not visited.
    func contains(_ key: Condition.Key, where accepts: (Span<UInt8>) -> Bool) -> Bool {
        switch key {
        case .action: visit(classification?.action?.rawValue, accepts)
        case .tree: visit(classification?.payload?.tree, accepts)
        case .type: visit(classification?.payload?.type, accepts)
        case .realm: visit(classification?.realm, accepts)
        case .platform: Self.headers(request.fields, Self.platformField, accepts)
        case .scheme: visit(request.target.scheme.name, accepts)
        case .by: visit(classification?.isOwn == true ? "usher" : "app", accepts)
        case .host: accepts(request.fields.bytes.span.extracting(request.target.host.indices))
        case .port: visit(String(request.target.port), accepts)
        case .path: path(accepts)
        case .method: accepts(request.fields.bytes.span.extracting(request.methodRange.indices))
        case .header(let name): Self.headers(request.fields, name, accepts)
        case .query(let name): parameters(name, accepts)
        case .cookie(let name): cookies(name, accepts)
        case .status: visit(response.map { String($0.status) }, accepts)
        case .contentType: contentType(accepts)
        case .responseHeader(let name): response.map { Self.headers($0.fields, name, accepts) } ?? false
        // `BodyTest` evaluates keys of bodies
        case .json, .form, .responseJSON: false
        case .error: error?.kinds.contains { accepts($0.rawValue.utf8.span) } ?? false
        }
    }

    private func visit(_ text: String?, _ accepts: (Span<UInt8>) -> Bool) -> Bool {
        guard let text else { return false }
        return accepts(text.utf8.span)
    }

    /// The path in its normal form, so that another spelling cannot bypass a condition.
    private func path(_ accepts: (Span<UInt8>) -> Bool) -> Bool {
        let range = request.target.path
        guard !range.isEmpty else { return visit("/", accepts) }
        guard NormalPath.mayDiffer(request.fields.bytes.span, range) else {
            return accepts(request.fields.bytes.span.extracting(range.indices))
        }
        let path = NormalPath.of(request.fields.bytes[range.indices])
        return accepts(path.span)
    }

    private static func headers(_ fields: FieldTable, _ name: String, _ accepts: (Span<UInt8>) -> Bool) -> Bool {
        var next = fields.first(named: name)
        while let index = next {
            if accepts(fields.bytes.span.extracting(fields.slots[index].value.indices)) { return true }
            next = fields.first(named: name, from: index + 1)
        }
        return false
    }

    /// The decoded values of a query parameter.
    private func parameters(_ name: String, _ accepts: (Span<UInt8>) -> Bool) -> Bool {
        guard let query = request.target.query else { return false }
        let bytes = request.fields.bytes
        return Self.split(bytes, query.indices, at: 0x26) { pair in
            let equals = bytes[pair].firstIndex(of: 0x3D) ?? pair.upperBound
            guard Self.decoded(bytes, pair.lowerBound..<equals, { Self.equal($0, name) }) else { return false }
            return Self.decoded(bytes, min(equals + 1, pair.upperBound)..<pair.upperBound, accepts)
        }
    }

    private func cookies(_ name: String, _ accepts: (Span<UInt8>) -> Bool) -> Bool {
        let bytes = request.fields.bytes
        for slot in request.fields.slots where slot.known == .cookie {
            let found = Self.split(bytes, slot.value.indices, at: 0x3B) { pair in
                let pair = Self.trimmed(bytes, pair)
                let equals = bytes[pair].firstIndex(of: 0x3D) ?? pair.upperBound
                guard Self.equal(bytes.span.extracting(pair.lowerBound..<equals), name) else { return false }
                return accepts(bytes.span.extracting(min(equals + 1, pair.upperBound)..<pair.upperBound))
            }
            if found { return true }
        }
        return false
    }

    /// The media type of the response without parameters.
    private func contentType(_ accepts: (Span<UInt8>) -> Bool) -> Bool {
        guard let fields = response?.fields, let index = fields.first(.contentType) else { return false }
        let whole = fields.slots[index].value.indices
        let end = fields.bytes[whole].firstIndex(of: 0x3B) ?? whole.upperBound
        return accepts(fields.bytes.span.extracting(Self.trimmed(fields.bytes, whole.lowerBound..<end)))
    }
}

// MARK: bytes

extension Subject {
    /// Visits the parts between separators and stops at the first accepted one.
    private static func split(
        _ bytes: [UInt8], _ range: Range<Int>, at separator: UInt8, _ takes: (Range<Int>) -> Bool
    ) -> Bool {
        var start = range.lowerBound
        while start <= range.upperBound {
            let end = bytes[start..<range.upperBound].firstIndex(of: separator) ?? range.upperBound
            if start < end, takes(start..<end) { return true }
            start = end + 1
        }
        return false
    }

    private static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, bytes[lower] == ASCII.space || bytes[lower] == ASCII.tab { lower += 1 }
        while lower < upper, bytes[upper - 1] == ASCII.space || bytes[upper - 1] == ASCII.tab { upper -= 1 }
        return lower..<upper
    }

    /// Passes on the decoded bytes. They are copied only if something is encoded.
    private static func decoded(_ bytes: [UInt8], _ range: Range<Int>, _ body: (Span<UInt8>) -> Bool) -> Bool {
        guard bytes[range].contains(where: { $0 == 0x25 || $0 == 0x2B }) else {
            return body(bytes.span.extracting(range))
        }
        let plain = PercentCoding.decodeBytes(bytes[range], plusAsSpace: true)
        return body(plain.span)
    }

    private static func equal(_ bytes: Span<UInt8>, _ text: String) -> Bool {
        guard bytes.count == text.utf8.count else { return false }
        var index = 0
        for byte in text.utf8 {
            guard bytes[index] == byte else { return false }
            index += 1
        }
        return true
    }
}
