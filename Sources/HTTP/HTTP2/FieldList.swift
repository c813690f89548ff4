import CNghttp2
import Formats
import HTTPCodec

/// The fields of an outgoing message: those of a head, referenced in place, and those of this hop. nghttp2 lower-cases the names.
struct FieldList {
    /// The storage of a text: the head's buffer, the own buffer, or the program.
    private enum Place {
        case head(ByteRange)
        case own(ByteRange)
        case fixed(StaticString)
    }

    private var fields: [(name: Place, value: Place)] = []
    private var text: [UInt8] = []
    private var vectors: [nghttp2_nv] = []

    mutating func removeAll() {
        fields.removeAll(keepingCapacity: true)
        text.removeAll(keepingCapacity: true)
    }

    // MARK: messages

    mutating func begin(response status: Int) {
        removeAll()
        add(":status", decimal: UInt64(max(0, status)))
    }

    /// - Parameter upgrade: the index of the Upgrade field, for an extended CONNECT.
    mutating func begin(request head: borrowing RequestHead, upgrade: Int?) {
        removeAll()
        let target = head.target
        // a rule may have changed Host, which then decides as in HTTP/1
        let host = head.fields.first(.host).map { head.fields.slots[$0].value }
        if target.form == .authority {
            add(":method", ofHead: head.methodRange)
            return add(":authority", ofHead: target.authority)
        }
        if let upgrade {
            add(":method", "CONNECT")
            add(":protocol", ofHead: head.fields.slots[upgrade].value)
        } else {
            add(":method", ofHead: head.methodRange)
        }
        add(":scheme", target.scheme == .http ? "http" : "https")
        add(":authority", ofHead: host ?? target.authority)
        let path = target.pathAndQuery
        if path.isEmpty {
            add(":path", head.method == .options ? "*" : "/")
        } else if head.fields.bytes[path.lower] == 0x3F {
            add(":path", [0x2F] + head.fields.bytes[path.indices])
        } else {
            add(":path", ofHead: path)
        }
    }

    /// Adds the fields of a response without hop-by-hop fields.
    mutating func add(_ fields: borrowing FieldTable, isOwn: Bool, keepsLength: Bool) {
        for slot in fields.slots {
            switch slot.known {
            case .contentLength: if keepsLength { add(slot) }
            case .proxyAuthenticate: if isOwn { add(slot) }
            default: if !slot.known.isHopByHop { add(slot) }
            }
        }
    }

    /// Adds the fields of a request without hop-by-hop fields, and those of this hop.
    /// - Parameter isUpgrade: true for an extended CONNECT, which needs no WebSocket key (RFC 8441 §5).
    mutating func add(_ fields: borrowing FieldTable, _ forwarding: borrowing Forwarding, isUpgrade: Bool = false) {
        for index in fields.slots.indices {
            let slot = fields.slots[index]
            switch slot.known {
            case .host, .contentLength: continue
            case .expect: if forwarding.dropsExpect, fields.equal(slot.value, "100-continue") { continue }
            // the only value that is allowed here (RFC 9113 §8.2.2); a server may then send trailers
            case .te: if fields.listContains(slot.value, "trailers") { add("te", "trailers") }
            default: if isUpgrade, fields.equal(slot.name, "sec-websocket-key") { continue }
            }
            if !slot.known.isHopByHop || slot.known == .proxyAuthorization && forwarding.isOwn { add(slot) }
        }
        if !forwarding.via.isEmpty { add("via", forwarding.via) }
        if !forwarding.date.isEmpty { add("date", forwarding.date) }
        add(lines: forwarding.lines)
    }

    // MARK: fields

    mutating func add(_ slot: FieldSlot) { fields.append((.head(slot.name), .head(slot.value))) }

    /// - Parameter value: a range of the head's bytes.
    mutating func add(_ name: StaticString, ofHead value: ByteRange) { fields.append((.fixed(name), .head(value))) }

    mutating func add(_ name: StaticString, _ value: StaticString) { fields.append((.fixed(name), .fixed(value))) }

    mutating func add(_ name: StaticString, _ value: [UInt8]) { add(.fixed(name)) { $0 += value } }

    mutating func add(_ name: StaticString, decimal value: UInt64) { add(.fixed(name)) { $0.append(decimal: value) } }

    /// - Parameter lines: lines as in HTTP/1, each with its end.
    mutating func add(lines: [UInt8]) {
        var start = 0
        while let end = lines[start...].firstIndex(of: ASCII.lf) {
            add(line: lines[start..<end])
            start = end + 1
        }
    }

    private mutating func add(line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: ASCII.colon), colon > line.startIndex else { return }
        var value = line[(colon + 1)...]
        while let first = value.first, first <= ASCII.space { value.removeFirst() }
        while let last = value.last, last <= ASCII.space { value.removeLast() }
        let start = text.count
        text += line[..<colon]
        add(.own(ByteRange(start: start, end: text.count))) { $0 += value }
    }

    private mutating func add(_ name: Place, _ write: (inout [UInt8]) -> Void) {
        let start = text.count
        write(&text)
        fields.append((name, .own(ByteRange(start: start, end: text.count))))
    }

    /// Passes the list to nghttp2 for one call; nghttp2 copies it.
    /// - Parameter head: the head's bytes.
    mutating func withVectors(of head: [UInt8], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32) -> Int32 {
        vectors.removeAll(keepingCapacity: true)
        return head.withUnsafeBufferPointer { head in
            text.withUnsafeBufferPointer { text in
                vectors.append(addingCapacity: fields.count) { vectors in
                    for field in fields {
                        let name = Self.bytes(field.name, head, text)
                        let value = Self.bytes(field.value, head, text)
                        vectors.append(
                            nghttp2_nv(
                                name: name.start, value: value.start, namelen: name.count, valuelen: value.count,
                                flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
                    }
                }
                return vectors.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
            }
        }
    }

    @inline(__always)
    private static func bytes(
        _ place: Place, _ head: UnsafeBufferPointer<UInt8>, _ text: UnsafeBufferPointer<UInt8>
    ) -> (start: UnsafeMutablePointer<UInt8>?, count: Int) {
        switch place {
        case .head(let range): part(of: head, range)
        case .own(let range): part(of: text, range)
        case .fixed(let text): (UnsafeMutablePointer(mutating: text.utf8Start), text.utf8CodeUnitCount)
        }
    }

    /// nghttp2's API takes mutable pointers but does not write to them.
    @inline(__always)
    private static func part(
        of bytes: UnsafeBufferPointer<UInt8>, _ range: ByteRange
    ) -> (start: UnsafeMutablePointer<UInt8>?, count: Int) {
        // an empty buffer has no address
        (bytes.baseAddress.map { UnsafeMutablePointer(mutating: $0 + range.lower) }, Int(range.count))
    }
}
