internal import Declaration

/// The reason why a text is not YAML.
enum YAMLFault: Error {
    /// A syntax error.
    /// - Parameters:
    ///   - problem: libyaml's message.
    ///   - context: the enclosing construct and the line where it begins.
    case syntax(problem: String, Position, context: (what: String, line: Int)?)
    /// A character that YAML does not allow, at this offset in bytes.
    case character(problem: String, offset: Int)
    /// Memory ran out.
    case memory
}
