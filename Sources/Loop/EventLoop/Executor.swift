internal import CLibevent
internal import Glibc

/// The threads for work that may block. A thread is created if none is free, and stays for later work. There are as many as all
/// queues together may run at once, so no queue waits for another.
private enum Executor {
    /// The pending work, and the number of threads without work, current or pending.
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

    /// The calling thread becomes free for other work.
    static func release() { state.withLock { $0.free += 1 } }
}

/// Runs one kind of blocking work, in the order of its arrival. Other kinds are not affected.
public final class WorkQueue: Sendable {
    public typealias Work = @Sendable () -> Void

    public enum Refusal: Error {
        /// The queue is full.
        case full
        /// The system could not create a thread.
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
    ///   - name: the name of its threads, at most 15 bytes.
    ///   - atOnce: how many jobs run at the same time.
    ///   - waiting: how many more may wait. One is enough for a job that does all pending work when it starts.
    public init(_ name: String, atOnce: Int = 1, waiting: Int = 1) {
        (self.name, most) = (name, (atOnce, waiting))
    }

    /// Queues a job, from any thread and without blocking.
    public func run(_ work: @escaping Work) throws(Refusal) {
        try state.withLock { state throws(Refusal) in
            guard state.running == most.running else {
                do throws(SystemError) { try Executor.run { [self] in start(work) } } catch { throw .noThread(error) }
                return state.running += 1
            }
            guard state.waiting.count < most.waiting else { throw .full }
            state.waiting.append(work)
        }
    }

    private func start(_ work: Work) {
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

    /// Waits until no job is left, up to the limit. Never call it on a loop that serves.
    /// - Parameter dropping: discards jobs that have not started.
    /// - Returns: whether no job is left.
    @discardableResult
    public func rests(withinMilliseconds limit: Int, dropping: Bool = false) -> Bool {
        if dropping { state.withLock { $0.waiting = [] } }
        return state.wait(milliseconds: limit) { $0.running == 0 ? true : nil } ?? false
    }
}
