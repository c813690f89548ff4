import EventLoop
import Glibc

/// Shows the progress of long work in one line on standard error that is overwritten. Only on a terminal, and only after a delay.
public struct ProgressLine {
    private let things: String
    private let begun = Loop.monotonicMilliseconds()
    private var last = 0
    private var isShown = false

    /// In milliseconds. The delay of the first output, and the interval.
    private static let patience = 300

    /// - Parameter things: the counted things, `flows`.
    public init(of things: String) { self.things = things }

    public mutating func show(_ count: Int) {
        let now = Loop.monotonicMilliseconds()
        guard isatty(2) == 1, now - begun >= Self.patience, now - last >= Self.patience else { return }
        last = now
        isShown = true
        Console.note("\r\(count) \(things) …")
    }

    /// Erases the line.
    public mutating func end() {
        if isShown { Console.note("\r\u{1B}[K") }
        isShown = false
    }
}
