internal import Formats

/// Edits of the query that take no text of it apart.
extension RequestHead {
    /// False where no parameter is called so. A name that is written percent-encoded may be any.
    public func queryMayHold(_ name: some StringProtocol) -> Bool {
        guard let query = target.query, !query.isEmpty else { return false }
        let bytes = fields.bytes.span
        var start = query.lower
        while start <= query.upper {
            let pair = bytes.first(start, query.upper) { $0.equal(to: 0x26) }
            let end = bytes.first(start, pair) { $0.equal(to: 0x3D) }
            let found = ByteRange(start: start, end: end)
            let isEncoded = bytes.first(start, end) { $0.equal(to: 0x25) | $0.equal(to: 0x2B) } < end
            if isEncoded || fields.equal(found, name) { return true }
            start = pair + 1
        }
        return false
    }

    /// Adds parameters behind those that are there.
    /// - Parameter written: as they stand in a query, percent-encoded.
    public mutating func appendQuery(_ written: [UInt8]) {
        let scheme: StaticString = target.scheme == .http ? "http://" : "https://"
        let (authority, rest, path, query) = (target.authority, target.pathAndQuery, target.path, target.query)
        // an edited head is a copy; its bytes are rebuilt here with room for further edits
        let old = fields.bytes
        var bytes: [UInt8] = []
        bytes.reserveCapacity(old.count + scheme.utf8CodeUnitCount + authority.indices.count + rest.indices.count + 128)
        bytes.append(old.span)
        let start = bytes.count
        bytes.append(literal: scheme)
        let name = bytes.count
        bytes.append(old.span.extracting(authority.indices))
        let place = bytes.count
        bytes.append(old.span.extracting(rest.indices))
        if let query {
            if !query.isEmpty { bytes.append(0x26) }
        } else {
            bytes.append(0x3F)
        }
        bytes.append(written.span)
        fields.bytes = bytes
        target.form = .absolute
        target.whole = ByteRange(start: start, end: bytes.count)
        target.authority = ByteRange(start: name, end: place)
        target.pathAndQuery = ByteRange(start: place, end: bytes.count)
        target.path = ByteRange(start: place, end: place + path.indices.count)
        target.query = ByteRange(start: place + path.indices.count + 1, end: bytes.count)
    }
}
