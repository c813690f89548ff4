/// Whether and how a person is asked.
public struct PersonPolicy: Equatable, Sendable {
    /// True to ask a person where no answer matches. Otherwise the step-up ends there.
    public var isAsked = false
    /// The command that notifies someone of an open step; empty for none.
    public var notify: [String] = []

    public init() {}
}
