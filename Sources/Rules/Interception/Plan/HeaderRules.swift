internal import Formats
internal import HTTPCodec

/// The header fields that a configuration may write. The loader and the edits use the same rules.
public enum HeaderRules {
    /// False for fields that frame a message or concern one connection (RFC 9110 §7.6.1). Usher writes those itself.
    public static func isWritable(_ name: String) -> Bool { !FieldName(name).isProxysOwn }

    /// Whether a transaction's id may be sent in this field. Fields with a meaning of their own are refused, because the id would
    /// replace a host, a session or a credential.
    public static func isFree(_ name: String) -> Bool {
        // X-Tree carries the tree when an id from an advice in a body is sent in a header
        FieldSyntax.isName(name) && FieldName(name) == .other && !ASCII.equal(name, "X-Tree")
    }
}
