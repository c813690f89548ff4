/// Bodies in any coding, or in two: whatever comes, no more is made than may be, and what was made can be put back.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzContentCoding(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count), let choice = input.bytes.first else { return 0 }
    let codings = Coding.allCases
    var chosen = [codings[Int(choice) % codings.count]]
    if choice & 0x80 != 0 { chosen.insert(codings[Int(choice >> 4 & 7) % codings.count], at: 0) }
    let limits = CodingLimits(size: 1 << 16, ratio: 50, unmeasured: 1 << 10)
    let body = Array(input.bytes.dropFirst())
    do throws(CodingFault) {
        let plain = try BodyDecoder.decode(body, chosen, limits)
        require(plain.count <= max(limits.unmeasured, body.count * limits.ratio), "no body unfolds too far")
        require(plain.count <= limits.size, "no body is larger than it may be")
        let again = try BodyEncoder.encode(plain, chosen)
        let free = CodingLimits(size: 1 << 20, ratio: 1 << 20)
        require(try BodyDecoder.decode(again, chosen, free) == plain, "what is put into a coding comes out again")
    } catch {
        require(!error.explanation.isEmpty, "a fault has words")
    }
    return 0
}
