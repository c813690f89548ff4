internal import HTTPCodec

/// Spoils the session of a request, so that AM and a Gateway do not know it.
struct StaleSession: RequestEdit, InnerEdit {
    static let sparesCalls = true

    /// A header named like AM's cookie carries a session, too.
    private static let header = "iPlanetDirectoryPro"
    private static let mark = "expired-"

    func apply(to head: inout RequestHead) -> EditEffect {
        for index in head.fields.slots.indices where head.fields.slots[index].known == .cookie {
            var cookies = CookieText(head.fields.value(index))
            for name in cookies.names { cookies.set(name, Self.mark + (cookies[name] ?? "")) }
            head.fields.setValue(index, cookies.text)
        }
        if let token = head.fields[Self.header] { head.fields.set(Self.header, Self.mark + token) }
        return .changed(["spoiled the cookies"])
    }
}
