internal import Formats
internal import HTTPCodec

/// Code shared by the edits of header fields.
enum HeaderEdit {
    /// Whether all pairs are valid in every head, so that exchanges can skip the check.
    static func areSound(_ pairs: [Pair]) -> Bool {
        pairs.allSatisfy {
            $0.template == nil && HeaderRules.isWritable($0.name) && !ASCII.equal($0.name, "host")
                && FieldSyntax.isName($0.name) && FieldSyntax.isValue($0.value)
        }
    }

    static func ignored(_ name: String) -> String {
        "ignored header \(name), which only the proxy itself may change"
    }

    static func removed(_ count: Int, _ what: String) -> String {
        count > 0 ? "removed \(what)" : "found no \(what) to remove"
    }

    static func check(_ pair: Pair) throws(EditFault) {
        guard FieldSyntax.isName(pair.name) else {
            throw EditFault(reason: "a header name is empty, or has an invalid character")
        }
        guard FieldSyntax.isValue(pair.value) else {
            throw EditFault(reason: "the value for header \(pair.name) has a control character")
        }
    }

    static func checkHost(_ authority: String) throws(EditFault) {
        var scratch = RequestHead()
        do {
            try scratch.adopt(authority: authority, scheme: .http)
        } catch {
            throw EditFault(reason: "the host is not a name or address with an optional port")
        }
    }
}
