internal import Formats
internal import HTTPCodec

/// Which headers a configuration may write. The one place that says so, for the loader and for the edits themselves.
public enum HeaderRules {
    /// False for what frames a message or concerns one connection: Usher writes those itself (RFC 9110 §7.6.1), and no
    /// edit changes them.
    public static func isWritable(_ name: String) -> Bool { !FieldName(name).isProxysOwn }

    /// Whether a transaction's id may stand there. Not in a header that has a meaning of its own to Usher or to anyone on
    /// the way: the id would take the place of a host, a session, a credential.
    public static func isFree(_ name: String) -> Bool {
        // where the id of an advice in a body goes back in a header, the tree goes in this one
        FieldSyntax.isName(name) && FieldName(name) == .other && !ASCII.equal(name, "X-Tree")
    }
}
