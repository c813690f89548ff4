@testable internal import HTTPCodec

/// Forms and queries: an edit concerns one name, and the other pairs stay as they came.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzForm(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count), let text = String(validating: input.bytes, as: UTF8.self) else {
        return 0
    }
    let form = QueryText(text)
    require(Array(form.text.utf8) == input.bytes, "reading changes nothing")
    let others = form.pairs.filter { QueryText.name($0) != "a b" }

    var edited = form
    edited.set("a b", "c&d=e+f %")
    require(edited.values(named: "a b") == ["c&d=e+f %"], "what was set is found, once")
    require(edited.pairs.filter { QueryText.name($0) != "a b" } == others, "other pairs stay")
    require(QueryText(edited.text) == edited, "what is written reads the same")
    edited.add("a b", "")
    require(edited.values(named: "a b").count == 2, "what was added is found")
    edited.removeAll { $0 == "a b" }
    require(edited.pairs == others, "what was removed is gone, and nothing else")
    return 0
}
