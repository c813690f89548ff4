/// One entry of `actions:` in the configuration. It gives its Action to requests without a known Action that meet the condition;
/// the first matching entry decides.
public struct ActionDefinition: Sendable {
    public var action: Action
    /// Has no keys of the response.
    public var when: Condition

    public init(action: Action, when: Condition) {
        self.action = action
        self.when = when
    }
}
