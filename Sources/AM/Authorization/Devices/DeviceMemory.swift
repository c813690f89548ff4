/// State of devices in memory, shared by all loops.
public struct DeviceMemory: Sendable {
    public var inbox = PushInbox()
    private var roster = DeviceRoster()
    private var journeys = SeenJourneys()

    public init() {}

    /// The devices in the store.
    public mutating func roster(of state: any StateStore) -> DeviceRoster {
        roster.read(state.documents(in: .devices))
        return roster
    }

    /// The journey of an app that sends this `authId`.
    /// - Parameter now: in milliseconds.
    public func journey(_ authId: String, now: Int) -> SeenJourney? { journeys.journey(authId, now: now) }

    public mutating func remember(_ journey: SeenJourney, _ authId: String, now: Int) {
        journeys.remember(journey, authId, now: now)
    }
}

/// Gives access to that memory. Used when a push is delivered, during a step-up with devices, and in journeys that apps run.
public protocol PushStore: AnyObject {
    func change<Result>(_ body: (inout DeviceMemory) -> Result) -> Result
}
