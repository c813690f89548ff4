internal import Declaration

/// Why a text is no YAML.
enum YAMLFault: Error {
    /// What stands there cannot follow what stands before it.
    /// - Parameters:
    ///   - problem: libyaml's words.
    ///   - context: what it was in, and where that begins.
    case syntax(problem: String, Position, context: (what: String, line: Int)?)
    /// A character that YAML does not have, so many bytes from the start.
    case character(problem: String, offset: Int)
    /// There was no memory for it.
    case memory
}
