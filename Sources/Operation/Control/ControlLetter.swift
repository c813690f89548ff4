import Control

/// What other threads have for a connection of the interface.
enum ControlLetter: Sendable {
    /// - Parameter turn: which of its requests that answers.
    case answer(ControlAnswer, connection: Int, turn: Int)
    /// A follower's events are there.
    case events(connection: Int)
}
