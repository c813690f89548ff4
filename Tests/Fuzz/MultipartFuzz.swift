@testable internal import HTTPCodec

/// Forms of parts with the boundary `x`: what is set is found, other parts stay, and the form reads the same afterwards.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMultipart(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count) else { return 0 }
    if let type = MediaType(String(decoding: input.bytes, as: UTF8.self)) {
        require(!type.type.isEmpty && !type.subtype.isEmpty, "a type has two names")
    }
    guard let form = try? MultipartText(input.bytes, boundary: "x") else { return 0 }
    require(form.bytes == input.bytes, "reading changes nothing")
    let other = form.values(named: "b").map { Array($0) }

    var edited = form
    do throws(MultipartFault) {
        try edited.set("a", Array("set".utf8))
        require(edited.values(named: "a").map { Array($0) } == [Array("set".utf8)], "what was set is found, once")
        require(edited.values(named: "b").map { Array($0) } == other, "other parts stay")
        try edited.add("a", [])
        require(edited.values(named: "a").count == 2, "what was added is found")
        require(
            try edited.removeAll { $0 == "a" } == 2 && edited.values(named: "a").isEmpty, "what was removed is gone")
        require(edited.values(named: "b").map { Array($0) } == other, "other parts stay")
        let again = try MultipartText(edited.bytes, boundary: "x")
        require(again.values(named: "b").map { Array($0) } == other, "the form reads the same")
    } catch {
        require(error == .encodedPart || error == .tooManyParts, "a form can be edited")
    }
    return 0
}
