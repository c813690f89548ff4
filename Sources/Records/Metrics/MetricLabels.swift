public import Interception

/// The allowed values of labels: those that the configuration names. Clients could otherwise create endless series.
public struct MetricLabels: Sendable {
    let actions: Set<Action>
    let realms: Set<String>
    let interceptors: Set<String>

    static let none = "none"
    static let other = "other"

    /// - Parameter actions: those that the configuration defines.
    public init(actions: [Action] = [], realms: [String] = [], interceptors: [String] = []) {
        self.actions = Set(Action.known + actions)
        self.realms = Set(realms)
        self.interceptors = Set(interceptors)
    }

    func of(_ action: Action?) -> String {
        guard let action else { return Self.none }
        return actions.contains(action) ? action.rawValue : Self.other
    }

    func of(realm: String?) -> String {
        guard let realm else { return Self.none }
        return realms.contains(realm) ? realm : Self.other
    }

    func of(interceptor: String) -> String { interceptors.contains(interceptor) ? interceptor : Self.other }
}
