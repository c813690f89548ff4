/// One entry of `actions:` in the configuration: requests that are no known Action and meet the condition are this one.
/// The first that holds decides.
public struct ActionDefinition: Sendable {
    public var action: Action
    /// Asks for nothing that only a response has.
    public var when: Condition

    public init(action: Action, when: Condition) {
        self.action = action
        self.when = when
    }
}
