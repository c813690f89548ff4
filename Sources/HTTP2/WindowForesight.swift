/// Whether a response gets more than streams begin with before any of it has come: where those before it needed more. What it turns out
/// not to need it gives back with its end.
struct WindowForesight {
    /// Of so many responses one at least needs more.
    private static let memory = 8

    private var left = 0

    /// A response needs more than its stream began with.
    mutating func needed() { left = Self.memory }

    /// A request goes out.
    /// - Returns: true where its response gets more at once.
    mutating func begins() -> Bool {
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}
