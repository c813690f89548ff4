import Control

/// A message from another thread to a connection of the admin API.
enum ControlLetter: Sendable {
    /// - Parameter turn: the number of the request that it answers.
    case answer(ControlAnswer, connection: Int, turn: Int)
    /// Events for a follower are available.
    case events(connection: Int)
}
