@testable internal import HTTPCodec

/// The header of a balancer: every prefix says the same or asks for more, and what is accepted is inside the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProxyProtocol(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    let whole = ProxyProtocol.read(input.bytes.span)
    for end in input.cuts() {
        let part = ProxyProtocol.read(input.bytes.span.extracting(first: end))
        switch (part, whole) {
        case (.needsMore, _): break
        case (.invalid, .invalid): break
        default: require(part == whole, "a header that came whole stays what it is")
        }
    }
    // no balancer's header is longer, so nobody waits for more than this
    if whole == .needsMore { require(input.bytes.count < 552, "more is not asked for without end") }
    guard case .header(let used, let source) = whole else { return 0 }
    require(used > 0 && used <= input.bytes.count, "no more is used than was there")
    require(
        ProxyProtocol.read(input.bytes.span.extracting(first: used)) == whole, "what follows the header changes nothing"
    )
    require(
        ProxyProtocol.read(input.bytes.span.extracting(first: used - 1)) == .needsMore, "a header has one length")
    if let source { require(source.address.count == 4 || source.address.count == 16, "an address is an address") }
    return 0
}
