public import Interception

/// What outlives one connection and is shared by all of them. Nil where nobody remembers.
public struct Memories {
    public var flows: (any FlowMemory)?
    public var refusals: (any RefusalMemory)?
    public var logins: (any LoginMemory)?

    public init(
        flows: (any FlowMemory)? = nil, refusals: (any RefusalMemory)? = nil, logins: (any LoginMemory)? = nil
    ) {
        self.flows = flows
        self.refusals = refusals
        self.logins = logins
    }
}
