/// How a person is asked.
public struct PersonPolicy: Equatable, Sendable {
    /// What no answer fits is asked of a person; else it ends the step-up.
    public var isAsked = false
    /// A command that tells somebody of it; none where it is empty.
    public var notify: [String] = []

    public init() {}
}
