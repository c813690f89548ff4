import Formats

/// The differences between a received head and the forwarded one.
public struct Forwarding: Sendable {
    /// The framing to announce; fields of the old framing are left out.
    public var framing: BodyFraming
    /// A `Content-Length` that describes a body which does not follow (HEAD, 304) is kept as it came.
    public var keepsLength = false
    /// `Expect: 100-continue` was already answered here. Another expectation is the origin's to answer.
    public var dropsExpect = false
    /// The value of `Connection` for the next hop; nil omits the field.
    public var connection: StaticString?
    /// `Upgrade` is passed on, and `Connection: upgrade` with it (RFC 9110 §7.8).
    public var upgrades = false
    /// This hop's entry for `Via` (RFC 9110 §7.6.3); empty adds none.
    public var via: [UInt8] = []
    /// The next hop is a proxy: the whole URL is asked for (RFC 9112 §3.2.2).
    public var absoluteForm = false
    /// When the answer came, where the origin does not say when it made it (RFC 9110 §6.6.1); empty adds none.
    public var date: [UInt8] = []
    /// The message was made here: fields that are meant for this hop alone stay.
    public var isOwn = false
    /// Further lines, each with its end.
    public var lines: [UInt8] = []

    public init(framing: BodyFraming) { self.framing = framing }
}

extension RequestHead {
    /// Writes the head for the next hop, in origin form where not told otherwise, without hop-by-hop fields (RFC 9110
    /// §7.6.1); those that `Connection` named have gone with `removeConnectionFields`.
    public borrowing func write(to out: inout [UInt8], _ forwarding: borrowing Forwarding) {
        let line = Int(methodRange.count) + Int(target.authority.count) + Int(target.pathAndQuery.count)
        let room = line + fields.room(forwarding)
        // a closure would copy what it captures, even a borrowed value
        withUnsafePointer(to: self) { head in
            withUnsafePointer(to: forwarding) { forwarding in
                out.append(addingCapacity: room) { head.pointee.write(into: &$0, forwarding.pointee) }
            }
        }
    }

    @inline(never)
    private borrowing func write(into out: inout OutputSpan<UInt8>, _ forwarding: borrowing Forwarding) {
        let bytes = fields.bytes.span
        out.append(bytes.extracting(methodRange.indices))
        out.append(ASCII.space)
        if target.form == .authority {
            out.append(bytes.extracting(target.authority.indices))
        } else if forwarding.absoluteForm {
            out.append(literal: target.scheme == .http ? "http://" : "https://")
            out.append(bytes.extracting(target.authority.indices))
        }
        if target.form == .authority {
            // CONNECT names host and port alone (RFC 9112 §3.2.3)
        } else if target.pathAndQuery.isEmpty {
            // RFC 9112 §3.2.4: a URL without a path asks about the whole server, and the last proxy says so
            if method != .options { out.append(0x2F) } else if !forwarding.absoluteForm { out.append(0x2A) }
        } else if bytes[target.pathAndQuery.lower] == 0x3F {
            out.append(0x2F)
        }
        out.append(bytes.extracting(target.pathAndQuery.indices))
        out.append(literal: " HTTP/1.1\r\n")
        fields.write(into: &out, forwarding, dropsLength: true)
        switch forwarding.framing {
        case .length(let length): out.append(contentLength: length)
        case .chunked: out.append(literal: "Transfer-Encoding: chunked\r\n")
        case .none, .untilClose:
            if announcesLength || method == .post || method == .put || method == .patch {
                out.append(contentLength: 0)
            }
        }
        out.append(literal: "\r\n")
    }
}

extension ResponseHead {
    /// Writes the head for the client, without hop-by-hop fields.
    public borrowing func write(to out: inout [UInt8], _ forwarding: borrowing Forwarding) {
        let room = Int(reasonRange.count) + fields.room(forwarding)
        withUnsafePointer(to: self) { head in
            withUnsafePointer(to: forwarding) { forwarding in
                out.append(addingCapacity: room) { head.pointee.write(into: &$0, forwarding.pointee) }
            }
        }
    }

    @inline(never)
    private borrowing func write(into out: inout OutputSpan<UInt8>, _ forwarding: borrowing Forwarding) {
        let bytes = fields.bytes.span
        out.append(literal: "HTTP/1.1 ")
        out.append(decimal: UInt64(status))
        out.append(ASCII.space)
        out.append(bytes.extracting(reasonRange.indices))
        out.append(literal: "\r\n")
        fields.write(into: &out, forwarding, dropsLength: !forwarding.keepsLength)
        switch forwarding.framing {
        case .length(let length): out.append(contentLength: length)
        case .chunked: out.append(literal: "Transfer-Encoding: chunked\r\n")
        case .none:
            if !forwarding.keepsLength, status >= 200, status != 204, status != 304 {
                out.append(contentLength: 0)
            }
        case .untilClose: break
        }
        out.append(literal: "\r\n")
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(contentLength length: UInt64) {
        append(literal: "Content-Length: ")
        append(decimal: length)
        append(literal: "\r\n")
    }
}

extension FieldTable {
    /// The most bytes of a head with these fields, without those of its first line.
    fileprivate func room(_ forwarding: borrowing Forwarding) -> Int {
        // the rest of the first line, the lines of framing and Connection, and the names of Via and Date take less than 128
        // bytes together, beside the value of Connection
        var room = 128 + (forwarding.connection?.utf8CodeUnitCount ?? 0)
        room += forwarding.via.count + forwarding.date.count + forwarding.lines.count
        return room + linesRoom
    }

    /// The bytes of all fields as lines.
    private var linesRoom: Int {
        var room = 0
        for slot in slots { room += Int(slot.name.count) + Int(slot.value.count) + 4 }
        return room
    }

    fileprivate func write(into out: inout OutputSpan<UInt8>, _ forwarding: borrowing Forwarding, dropsLength: Bool) {
        let bytes = self.bytes.span
        var run = ByteRange.empty
        for slot in slots {
            switch slot.known {
            case .other: break
            case .contentLength: if dropsLength { continue }
            case .expect: if forwarding.dropsExpect, isWord(slot.value, "100-continue") { continue }
            case .upgrade: if !forwarding.upgrades { continue }
            default: if slot.known.isHopByHop, !forwarding.isOwn { continue }
            }
            out.append(line: slot, of: bytes, after: &run)
        }
        if !run.isEmpty { out.append(bytes.extracting(run.indices)) }
        if forwarding.upgrades {
            out.append(literal: "Connection: upgrade\r\n")
        } else if let connection = forwarding.connection {
            out.append(literal: "Connection: ")
            out.append(literal: connection)
            out.append(literal: "\r\n")
        }
        if !forwarding.via.isEmpty {
            out.append(literal: "Via: ")
            out.append(forwarding.via.span)
            out.append(literal: "\r\n")
        }
        if !forwarding.date.isEmpty {
            out.append(literal: "Date: ")
            out.append(forwarding.date.span)
            out.append(literal: "\r\n")
        }
        if !forwarding.lines.isEmpty { out.append(forwarding.lines.span) }
    }
}

extension FieldTable {
    /// Appends all fields as lines, unchanged and in order, for recording.
    public borrowing func appendLines(to out: inout [UInt8]) {
        let room = linesRoom
        // a closure would copy what it captures, even a borrowed value
        withUnsafePointer(to: self) { fields in
            out.append(addingCapacity: room) { fields.pointee.writeLines(into: &$0) }
        }
    }

    @inline(never)
    private borrowing func writeLines(into out: inout OutputSpan<UInt8>) {
        let bytes = self.bytes.span
        var run = ByteRange.empty
        for slot in slots { out.append(line: slot, of: bytes, after: &run) }
        if !run.isEmpty { out.append(bytes.extracting(run.indices)) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a line, or postpones it: adjacent lines that need no change are written as one piece.
    /// - Parameter run: the postponed range.
    @inline(__always)
    fileprivate mutating func append(line slot: FieldSlot, of bytes: Span<UInt8>, after run: inout ByteRange) {
        if let line = slot.line(in: bytes) {
            if line.lower == run.upper {
                run = ByteRange(start: run.lower, end: line.upper)
            } else {
                if !run.isEmpty { append(bytes.extracting(run.indices)) }
                run = line
            }
            return
        }
        if !run.isEmpty { append(bytes.extracting(run.indices)) }
        run = .empty
        append(bytes.extracting(slot.name.indices))
        append(literal: ": ")
        append(bytes.extracting(slot.value.indices))
        append(literal: "\r\n")
    }
}

extension FieldSlot {
    /// The range of the whole line with its end, if it can be written byte for byte.
    @inline(__always)
    fileprivate func line(in bytes: Span<UInt8>) -> ByteRange? {
        let (colon, end) = (name.upper, value.upper)
        guard value.lower == colon &+ 2, end &+ 2 <= bytes.count, bytes[colon] == ASCII.colon,
            bytes[colon &+ 1] == ASCII.space, bytes[end] == ASCII.cr, bytes[end &+ 1] == ASCII.lf
        else { return nil }
        return ByteRange(start: name.lower, end: end &+ 2)
    }
}

extension [UInt8] {
    /// Appends ASCII text that is part of the program.
    @inlinable
    public mutating func append(literal text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    public mutating func append(decimal value: UInt64) {
        append(addingCapacity: 20) { $0.append(decimal: value) }
    }

    /// In small letters, as `String(_:radix:)` writes it.
    public mutating func append(hexadecimal value: UInt64) {
        append(addingCapacity: 16) { $0.append(hexadecimal: value) }
    }

    /// Appends one chunk of the chunked coding (RFC 9112 §7.1). Nothing for no bytes: that would end the body.
    public mutating func append(chunk bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        append(hexadecimal: UInt64(bytes.count))
        append(literal: "\r\n")
        append(bytes)
        append(literal: "\r\n")
    }

    /// Appends the end of a chunked body.
    public mutating func appendLastChunk(trailers: [UInt8]) {
        append(literal: "0\r\n")
        append(contentsOf: trailers)
        append(literal: "\r\n")
    }
}
