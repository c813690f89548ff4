/// What devices have in memory, for all loops.
public struct DeviceMemory: Sendable {
    public var inbox = PushInbox()
    private var roster = DeviceRoster()
    private var journeys = SeenJourneys()

    public init() {}

    /// The devices that a store keeps now.
    public mutating func roster(of state: any StateStore) -> DeviceRoster {
        roster.read(state.documents(in: .devices))
        return roster
    }

    /// The journey that an app comes with an `authId` of.
    /// - Parameter now: in milliseconds.
    public func journey(_ authId: String, now: Int) -> SeenJourney? { journeys.journey(authId, now: now) }

    public mutating func remember(_ journey: SeenJourney, _ authId: String, now: Int) {
        journeys.remember(journey, authId, now: now)
    }
}

/// Keeps that memory. Asked where a push is delivered, while a step-up has to do with devices, and where an app's own journey is
/// seen that may.
public protocol PushStore: AnyObject {
    func change<Result>(_ body: (inout DeviceMemory) -> Result) -> Result
}
