/// Accepts flows from loops on any thread and returns at once.
public protocol FlowIntake: Sendable {
    func take(_ batch: FlowBatch)
}
