internal import Synchronization

/// A script of the configuration as its interceptors see it. What executes it is connected before the first exchange.
public final class ScriptLine: Sendable {
    public typealias Ask = @Sendable (ScriptQuestion, @escaping @Sendable (ScriptAnswer) -> Void) -> Void

    /// The interceptor that declares it first.
    public let name: String
    public let terms: ScriptTerms
    public let place: Place
    private let office = Mutex(Office())

    /// A function alone, read and written back as a generic value, would be wrapped anew by each access.
    private struct Office {
        var ask: Ask?
        var unfit: (@Sendable () -> Void)?
    }

    /// Where the configuration has it.
    public struct Place: Sendable {
        public let file: String
        public let line: Int
        public let column: Int

        public init(file: String, line: Int, column: Int) {
            self.file = file
            self.line = line
            self.column = column
        }
    }

    public init(_ name: String, _ terms: ScriptTerms, at place: Place) {
        self.name = name
        self.place = place
        self.terms = terms
    }

    /// - Parameter unfit: called for an answer that cannot be applied to its message.
    public func connect(unfit: (@Sendable () -> Void)? = nil, _ ask: @escaping Ask) {
        office.withLock { ($0.ask, $0.unfit) = (ask, unfit) }
    }

    /// Asks the script.
    /// - Parameter done: called once, on any thread.
    public func ask(_ question: ScriptQuestion, _ done: @escaping @Sendable (ScriptAnswer) -> Void) {
        guard let ask = office.withLock({ $0.ask }) else { return done(.failed("was not started")) }
        ask(question, done)
    }

    /// Counts an answer that could not be applied, such as one with a wrong URL.
    public func noteUnfit() { office.withLock { $0.unfit }?() }
}
