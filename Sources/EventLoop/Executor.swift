internal import CLibevent
internal import Glibc

/// The threads for work that may block. One is begun where none is free, and stays for what comes next: there are never more
/// than all queues together may have at work, so that no queue waits for another.
private enum Executor {
    /// Free threads are those without work, and without some that waits for them already.
    private static let state = Locked((works: [WorkQueue.Work](), free: 0))

    static func run(_ work: @escaping WorkQueue.Work) throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            if state.free == 0 { try SystemThread(name: "work") { while true { next()() } }.detach() }
            state.free = max(0, state.free - 1)
            state.works.append(work)
        }
        state.signal { _ in }
    }

    private static func next() -> WorkQueue.Work { state.wait { $0.works.isEmpty ? nil : $0.works.removeFirst() } }

    /// The thread that calls comes back for other work at once.
    static func release() { state.withLock { $0.free += 1 } }
}

/// One kind of work that may block, begun in the order in which it comes. However long it takes, other kinds go on.
public final class WorkQueue: Sendable {
    public typealias Work = @Sendable () -> Void

    public enum Refusal: Error {
        /// As much waits as may.
        case full
        /// The system has no thread to give.
        case noThread(SystemError)

        public var description: String {
            if case .noThread(let error) = self { error.description } else { "too much waits already" }
        }
    }

    private struct State {
        var waiting: [Work] = []
        var running = 0
    }

    private let state = Locked(State())
    private let name: String
    private let most: (running: Int, waiting: Int)

    /// - Parameters:
    ///   - name: what the system calls a thread that is at it, in 15 bytes at most.
    ///   - atOnce: how many run at the same time.
    ///   - waiting: how many more may wait. One is enough where it does all that there is to be done when it begins.
    public init(_ name: String, atOnce: Int = 1, waiting: Int = 1) {
        (self.name, most) = (name, (atOnce, waiting))
    }

    /// From any thread; does not wait.
    public func run(_ work: @escaping Work) throws(Refusal) {
        try state.withLock { state throws(Refusal) in
            guard state.running == most.running else {
                do throws(SystemError) { try Executor.run { [self] in begin(work) } } catch { throw .noThread(error) }
                return state.running += 1
            }
            guard state.waiting.count < most.waiting else { throw .full }
            state.waiting.append(work)
        }
    }

    private func begin(_ work: Work) {
        usher_pthread_setname(pthread_self(), name)
        work()
        while let more = next() { more() }
    }

    private func next() -> Work? {
        var next: Work?
        state.signalAll { state in
            next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            guard next == nil else { return }
            state.running -= 1
            Executor.release()
        }
        return next
    }

    /// Waits until no work is left, but no longer than that. Never on a loop that serves.
    /// - Parameter dropping: what has not begun is not done any more.
    /// - Returns: whether none is left.
    @discardableResult
    public func rests(withinMilliseconds limit: Int, dropping: Bool = false) -> Bool {
        if dropping { state.withLock { $0.waiting = [] } }
        return state.wait(milliseconds: limit) { $0.running == 0 ? true : nil } ?? false
    }
}
