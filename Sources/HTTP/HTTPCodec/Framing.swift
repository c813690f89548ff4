import Formats

/// The framing of a message body (RFC 9112 §6).
public enum BodyFraming: Equatable, Sendable {
    case none
    case length(UInt64)
    case chunked
    /// Ends where the connection ends. Responses only.
    case untilClose
}

extension RequestHead {
    /// Decides the framing of the request's body. Ambiguity is a fault, never a choice (RFC 9112 §6.1, §6.3).
    public func framing() throws(HTTPFault) -> BodyFraming {
        let (length, chunked) = try fields.framingFields(version)
        if chunked { return .chunked }
        guard let length else { return .none }
        return length == 0 ? .none : .length(length)
    }

    /// True when the request says `Content-Length: 0` or more: a POST without a body keeps saying so.
    public var announcesLength: Bool { fields.contains(.contentLength) }

    /// Checks `Host` (RFC 9112 §3.2): exactly one in HTTP/1.1, well formed; and takes the authority from it where the
    /// target does not name one.
    public mutating func settleHost(scheme: Target.Scheme = .http) throws(HTTPFault) {
        var found: Int?
        for index in fields.slots.indices where fields.slots[index].known == .host {
            guard found == nil else { throw HTTPFault(.repeatedHost, at: fields.slots[index].name.lower) }
            found = index
        }
        guard let found else {
            if version == .http10, target.form == .absolute || target.form == .authority { return settleAddress() }
            throw HTTPFault(.missingHost, at: 0)
        }
        let range = fields.slots[found].value
        if target.form == .absolute || target.form == .authority {
            settleAddress()
            // an empty Host, as a URL without an authority would send, is replaced by the target's authority
            if range.isEmpty || fields.same(range, target.authority) { return }
            var scratch = Target()
            do {
                try TargetParser.parseAuthority(
                    fields.bytes.span, range.lower, range.upper, into: &scratch, portRequired: false)
            } catch { throw error.inHost(range) }
        } else {
            try adopt(authority: range, scheme: scheme)
        }
    }

    /// Makes Host say what an absolute-form target says: the target wins (RFC 9112 §3.2.2).
    public mutating func alignHost() {
        guard let index = fields.first(.host) else {
            fields.add("Host", fields.text(target.authority))
            return
        }
        if !fields.same(fields.slots[index].value, target.authority) { fields.setValue(index, target.authority) }
    }

    /// Whether the client asks for another protocol on this connection (RFC 9110 §7.8). An offer with `h2c` does not count:
    /// clients send it with plain requests, and the HTTP/2 that follows would pass unread.
    public var asksForUpgrade: Bool {
        guard version != .http10, fields.contains(.upgrade) else { return false }
        let named = fields.slots.contains { $0.known == .connection && fields.listContains($0.value, "upgrade") }
        return named && !fields.slots.contains { $0.known == .upgrade && fields.listContains($0.value, "h2c") }
    }

    /// Whether the request asks for a WebSocket (RFC 6455) and nothing else.
    public var asksForWebSocket: Bool {
        var asked = false
        for slot in fields.slots where slot.known == .upgrade {
            guard fields.isWord(slot.value, "websocket"), !asked else { return false }
            asked = true
        }
        return asked
    }

    /// Whether the client wants to keep the connection (RFC 9112 §9.3).
    public var keepsAlive: Bool { fields.keepsAlive(version) }
}

extension ResponseHead {
    /// Decides the framing of the response's body (RFC 9112 §6.3).
    public func framing(answering method: Method) throws(HTTPFault) -> BodyFraming {
        let (length, chunked) = try fields.framingFields(version)
        if status < 200 || status == 204 {
            if chunked || (length ?? 0) != 0 { throw HTTPFault(.bodyNotAllowed, at: 0) }
            return .none
        }
        if status == 304 || method == .head { return .none }
        if chunked { return .chunked }
        guard let length else { return .untilClose }
        return length == 0 ? .none : .length(length)
    }

    public var keepsAlive: Bool { fields.keepsAlive(version) }
}

extension FieldTable {
    func framingFields(_ version: HTTPVersion) throws(HTTPFault) -> (length: UInt64?, chunked: Bool) {
        var length: UInt64?
        var chunked = false
        guard mayHold(.contentLength) || mayHold(.transferEncoding) else { return (nil, false) }
        for index in slots.indices {
            switch slots[index].known {
            case .contentLength:
                let slot = slots[index]
                guard length == nil else { throw HTTPFault(.repeatedContentLength, at: slot.name.lower) }
                length = try decimal(slot.value)
            case .transferEncoding:
                let slot = slots[index]
                guard !chunked else { throw HTTPFault(.repeatedTransferEncoding, at: slot.name.lower) }
                guard version != .http10 else { throw HTTPFault(.transferEncodingInHTTP10, at: slot.name.lower) }
                guard isWord(slot.value, "chunked") else {
                    throw HTTPFault(.unknownTransferCoding, at: slot.value.lower)
                }
                chunked = true
            default: continue
            }
        }
        if chunked, length != nil { throw HTTPFault(.lengthWithTransferEncoding, at: 0) }
        return (length, chunked)
    }

    private func decimal(_ range: ByteRange) throws(HTTPFault) -> UInt64 {
        guard !range.isEmpty, range.count <= 19 else { throw HTTPFault(.badContentLength, at: range.lower) }
        var value: UInt64 = 0
        for index in range.indices {
            guard ASCII.isDigit(bytes[index]) else { throw HTTPFault(.badContentLength, at: index) }
            value = value &* 10 &+ UInt64(bytes[index] &- 0x30)
        }
        // the next recipient may use signed numbers
        guard value <= UInt64(Int64.max) else { throw HTTPFault(.badContentLength, at: range.lower) }
        return value
    }

    func keepsAlive(_ version: HTTPVersion) -> Bool {
        var keeps = version != .http10
        guard mayHold(.connection) || mayHold(.proxyConnection) else { return keeps }
        for index in slots.indices where slots[index].known == .connection || slots[index].known == .proxyConnection {
            let value = slots[index].value
            if isWord(value, "keep-alive") {
                keeps = true
                continue
            }
            if listContains(value, "close") { return false }
            if version == .http10, listContains(value, "keep-alive") { keeps = true }
        }
        return keeps
    }

    /// Whether a comma-separated list contains the token (RFC 9110 §5.6.1).
    public func listContains(_ range: ByteRange, _ token: StaticString) -> Bool {
        var found = false
        forEachListItem(range) { item in
            if isWord(item, token) { found = true }
        }
        return found
    }

    /// Visits the items of a comma-separated list of tokens, without white space around them.
    @inline(__always)
    func forEachListItem(_ range: ByteRange, _ visit: (ByteRange) -> Void) {
        var start = range.lower
        let upper = range.upper
        while start < upper {
            var end = start
            while end < upper, bytes[end] != 0x2C { end &+= 1 }
            var low = start
            var high = end
            while low < high, bytes[low] == ASCII.space || bytes[low] == ASCII.tab { low &+= 1 }
            while high > low, bytes[high &- 1] == ASCII.space || bytes[high &- 1] == ASCII.tab { high &-= 1 }
            if low < high { visit(ByteRange(start: low, end: high)) }
            start = end &+ 1
        }
    }
}
