internal import Addresses
internal import Formats

@testable internal import HTTPCodec

/// Request targets and URLs: what is accepted is what it says, and its parts put together give it back.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTarget(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count) else { return 0 }
    for method in ["GET", "CONNECT", "OPTIONS"] {
        let bytes = Array("\(method) ".utf8) + input.bytes + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        var parser = HeadParser()
        var head = RequestHead()
        guard let consumed = try? parser.parse(bytes.span, into: &head, limits: HeadLimits()), consumed == bytes.count
        else { continue }
        check(head)
    }
    edit(String(decoding: input.bytes, as: UTF8.self))
    return 0
}

private func check(_ head: RequestHead) {
    let target = head.target
    require(target.pathAndQuery.upper <= target.whole.upper, "the parts are inside the target")
    require(head.path.utf8.first == 0x2F || target.form == .asterisk, "a path begins with a slash")
    switch target.form {
    case .absolute:
        require(target.port > 0 && !target.host.isEmpty, "an absolute target has host and port")
        // an empty port is no part of the authority, and its colon stands between
        require(
            (0...1).contains(target.pathAndQuery.lower - target.authority.upper), "the path follows the authority")
        require(target.pathAndQuery.upper == target.whole.upper, "the path ends the target")
    case .authority: require(target.port > 0 && !target.host.isEmpty, "a tunnel has host and port")
    case .origin, .asterisk: require(target.authority.isEmpty, "an origin-form target names no host")
    }
    require(!head.host.utf8.contains { $0 == 0x40 || $0 == 0x2F || $0 <= 0x20 }, "a host is only a host")
    require(head.host.utf8.allSatisfy { $0 < 0x80 && $0 != 0x25 }, "a host is written as it is")
    require(!head.host.hasSuffix("."), "the dot behind a host is no part of it")
    require(HostName.normalized(head.host) == head.host || head.host.utf8.contains(ASCII.colon), "a host is normal")
}

/// An edit never changes a part that it does not concern, and a refused one changes nothing.
private func edit(_ text: String) {
    guard var head = try? RequestHead(method: "GET", url: "http://example.com:81/a?b") else { return }
    if (try? head.setURL(text)) == nil {
        require(head.url == "http://example.com:81/a?b", "a refused URL changes nothing")
    }
    guard var other = try? RequestHead(method: "GET", url: "http://example.com:81/a?b") else { return }
    if (try? other.setPathAndQuery(text)) == nil {
        require(other.url == "http://example.com:81/a?b", "a refused path changes nothing")
    }
    require(other.host == "example.com" && other.target.port == 81, "a path never becomes a host")

    let query = QueryText(text)
    require(query.text.utf8.elementsEqual(text.utf8), "a query that is not touched keeps its bytes")
    var edited = query
    edited.set(text, text)
    require(edited[text] == text, "what was set in a query is found")
    require(PercentCoding.decode(PercentCoding.encode(text)).utf8.elementsEqual(text.utf8), "percent-coding is undone")
    require(Base64.decode(Base64.encode(text.utf8)) ?? [] == Array(text.utf8), "Base64 is undone")
    _ = Base64.decode(text)
}
