public import Interception

/// What outlives one connection and is shared by all of them. Nil where nobody remembers.
public struct SharedStores {
    public var flows: (any FlowStore)?
    public var refusals: (any RefusalStore)?
    public var logins: (any LoginStore)?

    public init(
        flows: (any FlowStore)? = nil, refusals: (any RefusalStore)? = nil, logins: (any LoginStore)? = nil
    ) {
        self.flows = flows
        self.refusals = refusals
        self.logins = logins
    }
}
