/// A part of a configured text. References to secrets and the environment are substituted when it is read; their values are not
/// searched for variables.
public enum TextPart: Equatable, Sendable {
    case text(String)
    /// The text between `${` and `}`, which exchanges fill in.
    case place(String)
}
