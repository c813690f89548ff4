/// A piece of a text of the configuration. References to secrets and the environment are filled in when it is read, and are
/// text like any other; what stands in them is not looked at again.
public enum TextPart: Equatable, Sendable {
    case text(String)
    /// What stands between `${` and `}` and is filled in for each exchange.
    case place(String)
}
