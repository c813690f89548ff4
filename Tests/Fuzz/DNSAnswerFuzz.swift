/// A DNS response: read without a fault, with addresses of the right length only; and what is behind it changes nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDNSAnswer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count) else { return 0 }
    for (type, length) in [(DNSAnswer.RecordType.a, 4), (.aaaa, 16)] {
        guard let found = DNSAnswer(input.bytes, wanted: type) else { continue }
        require(found.addresses.allSatisfy { $0.count == length }, "an address has its length")
        require(found.name.count < 255, "a name has an end")
        require(!found.addresses.isEmpty || found.timeToLive == .max, "what is not there does not end")
        require(DNSAnswer(input.bytes + [0xC0, 0x0C, 0], wanted: type) == found, "what follows is not looked at")
    }
    return 0
}
