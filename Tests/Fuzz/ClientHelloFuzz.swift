internal import Addresses
internal import Formats

/// The hello of a TLS client: every prefix says the same or asks for more, what follows changes nothing, and it is the
/// same in whatever records it comes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzClientHello(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    _ = peek(input.bytes, input.cuts())

    // the same once more with the lengths of record and message put right, so that more gets as far as the body
    let body = input.bytes.dropFirst(9)
    let message = [1, UInt8(body.count >> 16), UInt8(body.count >> 8 & 255), UInt8(body.count & 255)] + body
    let whole = peek(record(message[...]), [])
    require(whole != .needsMore && whole != .notTLS && whole != .tooLarge, "a whole message is read")
    var records: [UInt8] = []
    var ends: [Int] = []
    var begin = 0
    for end in input.cuts().map({ $0 + 4 }) where end < message.count {
        records += record(message[begin..<end])
        ends.append(records.count)
        begin = end
    }
    records += record(message[begin...])
    require(peek(records, ends) == whole, "a message is the same in whatever records it comes")
    return 0
}

private func record(_ fragment: ArraySlice<UInt8>) -> [UInt8] {
    [22, 3, 1, UInt8(fragment.count >> 8), UInt8(fragment.count & 255)] + fragment
}

private func peek(_ bytes: [UInt8], _ cuts: [Int]) -> ClientHello.Peek {
    let whole = ClientHello.peek(bytes.span)
    for end in cuts {
        let part = ClientHello.peek(bytes.span.extracting(first: end))
        require(part == .needsMore || part == whole, "pieces say what the whole says")
    }
    if whole == .needsMore {
        require(bytes.count < ClientHello.maxHeld, "more is not asked for without end")
        return whole
    }
    require(ClientHello.peek((bytes + bytes).span) == whole, "what follows changes nothing")
    if case .hello(let hello) = whole { check(hello) }
    return whole
}

private func check(_ hello: ClientHello) {
    require(!hello.protocols.contains([]), "a protocol has a name")
    require(!hello.offersTLS13 || hello.highestVersion >= 0x0304, "the highest version is not below one offered")
    guard let name = hello.serverName else { return }
    require((1...255).contains(name.utf8.count), "a name has its length")
    require(ASCII.lowercased(name) == name, "a name is in lower case")
    require(
        name.utf8.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || [0x2D, 0x2E, 0x5F].contains($0) },
        "a name is a host name")
    require(!name.hasPrefix(".") && !name.hasSuffix(".") && !name.contains(".."), "a name has no empty label")
    require(IPAddress(name) == nil, "an address is no name")
}
