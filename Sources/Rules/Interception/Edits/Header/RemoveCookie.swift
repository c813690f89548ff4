public import Declaration
public import HTTPCodec

/// `remove_cookie`.
public struct RemoveCookie: RequestEdit, ResponseEdit {
    public static let name = "remove_cookie"
    public static let doc = "Removes cookies by name or glob. Response: removes their Set-Cookie lines."
    public static let shape = Shape.namesOrGlobs

    public let names: [String]

    public init(_ names: [String]) { self.names = names }
    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.names(value)) }

    public func apply(to head: inout RequestHead) -> EditEffect {
        .changed(
            names.map { name in
                var count = 0
                for index in head.fields.slots.indices.reversed() where head.fields.slots[index].known == .cookie {
                    count += Self.remove(from: &head.fields, at: index) { Glob.matches(name, $0) }
                }
                return HeaderEdit.removed(count, "cookie \(name)")
            })
    }

    public func apply(to head: inout ResponseHead) -> EditEffect {
        .changed(
            names.map { name in
                let count = head.fields.removeAll { table, index in
                    guard table.slots[index].known == .setCookie else { return false }
                    return HTTPCodec.SetCookie(table.value(index)).map { Glob.matches(name, $0.name) } ?? false
                }
                return HeaderEdit.removed(count, "cookie \(name)")
            })
    }

    /// Removes cookies from one Cookie field, and the field itself if it becomes empty. Returns the number of cookies removed.
    @discardableResult
    static func remove(
        from fields: inout FieldTable, at index: Int, where matches: (String) -> Bool
    ) -> Int {
        let before = CookieText(fields.value(index))
        var text = before
        text.removeAll(where: matches)
        guard text != before else { return 0 }
        if text.isEmpty { fields.remove(at: index) } else { fields.setValue(index, text.text) }
        return before.pairs.count - text.pairs.count
    }
}
