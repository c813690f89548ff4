import EventLoop
import Glibc

/// How far long work is, in one line on standard error that is written over: where that is a terminal, and once it takes long.
public struct ProgressLine {
    private let things: String
    private let begun = Loop.monotonicMilliseconds()
    private var last = 0
    private var isShown = false

    /// Milliseconds before the first word, and between two.
    private static let patience = 300

    /// - Parameter things: what is counted, `flows`.
    public init(of things: String) { self.things = things }

    public mutating func show(_ count: Int) {
        let now = Loop.monotonicMilliseconds()
        guard isatty(2) == 1, now - begun >= Self.patience, now - last >= Self.patience else { return }
        last = now
        isShown = true
        Console.note("\r\(count) \(things) …")
    }

    /// Takes the line away.
    public mutating func end() {
        if isShown { Console.note("\r\u{1B}[K") }
        isShown = false
    }
}
