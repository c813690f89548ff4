@testable internal import HTTPCodec

/// Cookies: reading is stable, an edit concerns one name, and what was set is found.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCookie(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count) else { return 0 }
    let text = String(decoding: input.bytes, as: UTF8.self)
    let cookies = CookieText(text)
    require(CookieText(cookies.text) == cookies, "written cookies read the same")
    require(cookies.pairs.allSatisfy { !$0.utf8.contains(0x3B) }, "no pair holds a separator")

    var edited = cookies
    edited.set("member", "gold")
    require(edited["member"] == "gold", "what was set is found")
    require(CookieText(edited.text) == edited, "edited cookies read the same")
    let before = cookies.pairs.filter { !$0.utf8.starts(with: "member".utf8) }
    let after = edited.pairs.filter { !$0.utf8.starts(with: "member".utf8) }
    require(before == after, "an edit leaves the other cookies")

    if let cookie = SetCookie(text) {
        require(!cookie.name.isEmpty && !cookie.name.utf8.contains(0x3D), "a cookie has a name")
        require(!cookie.value.utf8.contains(0x3B), "a value ends before the attributes")
    }
    return 0
}
