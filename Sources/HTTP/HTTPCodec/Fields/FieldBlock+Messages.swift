import Addresses
import Formats

/// Converts a complete block to the form that HTTP/1 has for the same message.
extension FieldBlock {
    // MARK: requests

    /// Returns the request's head in the form for proxies: the whole URL as target, and a Host field equal to its
    /// authority. CONNECT has host and port alone. An extended CONNECT (RFC 8441) becomes a GET whose `Upgrade` names the
    /// protocol.
    ///
    /// - Throws: the first fault of the block; `missingPseudoField`, `badPseudoField`, `unknownPseudoField`; the HTTP/1
    ///   faults of target or host; `hostMismatch`, `repeatedHost`. Then `head` is unchanged.
    public mutating func take(request head: inout RequestHead, limits: HeadLimits) throws(HTTPFault) {
        if let fault { throw fault }
        guard pseudo.status == nil else { throw HTTPFault(.unknownPseudoField, at: 0) }
        guard let name = pseudo.method else { throw HTTPFault(.missingPseudoField, at: 0) }
        guard !name.isEmpty else { throw HTTPFault(.badMethod, at: 0) }
        for index in name.indices where !ASCII.isToken(fields.bytes[index]) {
            throw HTTPFault(.badMethod, at: index)
        }
        joinCookies()
        var methodRange = name
        var method = Method.identify(fields.bytes.span, name.lower, name.upper)
        let target: Target
        if method == .connect, pseudo.protocolName == nil {
            guard pseudo.scheme == nil, pseudo.path == nil else { throw HTTPFault(.badPseudoField, at: 0) }
            guard let authority = pseudo.authority else { throw HTTPFault(.missingPseudoField, at: 0) }
            target = try tunnel(to: authority)
        } else {
            if let wanted = pseudo.protocolName {
                guard method == .connect else { throw HTTPFault(.badPseudoField, at: 0) }
                try upgrade(to: wanted)
                methodRange = fields.store("GET")
                method = .get
            }
            target = try url(method, limits)
        }
        swap(&head.fields, &fields)
        head.method = method
        head.methodRange = methodRange
        head.target = target
        head.version = .http2
        head.settleAddress()
    }

    private mutating func tunnel(to authority: ByteRange) throws(HTTPFault) -> Target {
        var target = Target()
        target.form = .authority
        target.scheme = .https
        try TargetParser.parseAuthority(
            fields.bytes.span, authority.lower, authority.upper, into: &target, portRequired: true)
        target.whole = authority
        try settleHost(target)
        return target
    }

    private mutating func upgrade(to wanted: ByteRange) throws(HTTPFault) {
        guard !wanted.isEmpty else { throw HTTPFault(.badPseudoField, at: wanted.lower) }
        for index in wanted.indices where !ASCII.isToken(fields.bytes[index]) {
            throw HTTPFault(.badPseudoField, at: index)
        }
        fields.add("Connection", "Upgrade")
        fields.add("Upgrade", fields.text(wanted))
    }

    private mutating func url(_ method: Method, _ limits: HeadLimits) throws(HTTPFault) -> Target {
        guard let scheme = pseudo.scheme, let path = pseudo.path else { throw HTTPFault(.missingPseudoField, at: 0) }
        guard path.count <= limits.target else { throw HTTPFault(.targetTooLong, at: limits.target) }
        var target = Target()
        target.form = .absolute
        if fields.isWord(scheme, "https") {
            target.scheme = .https
        } else if !fields.isWord(scheme, "http") {
            throw HTTPFault(.unsupportedScheme, at: scheme.lower)
        }
        let host = try soleHost()
        // who has HTTP/1 before it may have none but Host (RFC 9113 §8.3.1)
        guard let authority = pseudo.authority ?? host else { throw HTTPFault(.missingHost, at: 0) }
        try TargetParser.parseAuthority(
            fields.bytes.span, authority.lower, authority.upper, into: &target, portRequired: false)
        let stop = fields.bytes.span.first(path.lower, path.upper) { $0.outsideTargets }
        guard stop == path.upper else { throw HTTPFault(.badTarget, at: stop) }
        // HTTP/1 forwards such bytes as received, but in HTTP/2 no client depends on them, and they are no URL
        for index in path.indices where fields.bytes[index] >= 0x80 { throw HTTPFault(.badTarget, at: index) }
        let isAsterisk = path.count == 1 && fields.bytes[path.lower] == 0x2A
        guard isAsterisk ? method == .options : !path.isEmpty && fields.bytes[path.lower] == 0x2F else {
            throw HTTPFault(.badTarget, at: path.lower)
        }
        // OPTIONS about the whole server has no path in a URL (RFC 9112 §3.2.4)
        if !isAsterisk { TargetParser.splitPath(fields.bytes.span, path.lower, path.upper, into: &target) }
        target.whole = whole(target)
        try settleHost(target)
        return target
    }

    /// The URL in one piece.
    private mutating func whole(_ target: Target) -> ByteRange {
        let start = fields.bytes.count
        let parts = (target.authority, target.pathAndQuery)
        fields.bytes.reserveCapacity(start + 8 + Int(parts.0.count) + Int(parts.1.count))
        fields.bytes.append(literal: target.scheme == .http ? "http://" : "https://")
        for index in parts.0.indices { fields.bytes.append(fields.bytes[index]) }
        for index in parts.1.indices { fields.bytes.append(fields.bytes[index]) }
        return ByteRange(start: start, end: fields.bytes.count)
    }

    private func soleHost() throws(HTTPFault) -> ByteRange? {
        guard let index = fields.first(.host) else { return nil }
        for other in fields.slots.indices.dropFirst(index + 1) where fields.slots[other].known == .host {
            throw HTTPFault(.repeatedHost, at: fields.slots[other].name.lower)
        }
        return fields.slots[index].value
    }

    /// Has Host say what the target says. One that is there already has to name the same host and port.
    private mutating func settleHost(_ target: Target) throws(HTTPFault) {
        guard let host = try soleHost(), let index = fields.first(.host) else {
            let start = fields.bytes.count
            fields.bytes.append(literal: "Host: ")
            for index in target.authority.indices { fields.bytes.append(fields.bytes[index]) }
            let end = fields.bytes.count
            fields.bytes.append(literal: "\r\n")
            return fields.insertFirst(
                FieldSlot(
                    name: ByteRange(start: start, end: start + 4), value: ByteRange(start: start + 6, end: end),
                    known: .host))
        }
        guard !fields.same(host, target.authority) else { return }
        var named = target
        do {
            try TargetParser.parseAuthority(
                fields.bytes.span, host.lower, host.upper, into: &named, portRequired: false)
        } catch { throw error.inHost(host) }
        guard named.port == target.port, isSame(named.host, target.host) else {
            throw HTTPFault(.hostMismatch, at: host.lower)
        }
        fields.setValue(index, target.authority)
    }

    private func isSame(_ left: ByteRange, _ right: ByteRange) -> Bool {
        let one = HostName.normalized(fields.text(left))
        return one == HostName.normalized(fields.text(right))
    }

    // MARK: responses

    /// - Throws: the first fault of the block; `missingPseudoField`, `unknownPseudoField`, `badStatusLine`. `head` is as it was
    ///   then.
    public mutating func take(response head: inout ResponseHead) throws(HTTPFault) {
        if let fault { throw fault }
        guard pseudo.hasNoRequest else { throw HTTPFault(.unknownPseudoField, at: 0) }
        guard let text = pseudo.status else { throw HTTPFault(.missingPseudoField, at: 0) }
        guard text.count == 3 else { throw HTTPFault(.badStatusLine, at: text.lower) }
        var status = 0
        for index in text.indices {
            guard ASCII.isDigit(fields.bytes[index]) else { throw HTTPFault(.badStatusLine, at: index) }
            status = status * 10 + Int(fields.bytes[index] - 0x30)
        }
        // there is nothing to switch to (RFC 9113 §8.6)
        guard status >= 100, status < 600, status != 101 else { throw HTTPFault(.badStatusLine, at: text.lower) }
        joinCookies()
        let reason = fields.store(ReasonPhrase.of(status))
        swap(&head.fields, &fields)
        head.status = status
        head.reasonRange = reason
        head.version = .http2
    }

    // MARK: trailers

    /// Gives trailers as they stand behind a chunked body, each line with its end.
    /// - Throws: the first fault of the block; `misplacedPseudoField`, `trailersTooLarge`, `badTrailerField`.
    public mutating func take(trailers: inout [UInt8]) throws(HTTPFault) {
        if let fault {
            throw fault.code == .headTooLarge ? HTTPFault(.trailersTooLarge, at: fault.offset) : fault
        }
        guard pseudo.hasNoRequest, pseudo.status == nil else { throw HTTPFault(.misplacedPseudoField, at: 0) }
        for slot in fields.slots where !slot.known.mayTrail {
            throw HTTPFault(.badTrailerField, at: slot.name.lower)
        }
        trailers.removeAll(keepingCapacity: true)
        fields.appendLines(to: &trailers)
    }
}

extension ResponseHead {
    /// Turns the head into the 101 response of HTTP/1, for a stream that switched protocols (RFC 8441 §5).
    public mutating func becomeSwitch(to name: String) {
        setStatus(101, reason: ReasonPhrase.of(101))
        fields.add("Connection", "Upgrade")
        fields.add("Upgrade", name)
    }
}
