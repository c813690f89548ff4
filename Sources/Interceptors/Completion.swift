internal import Synchronization

/// Waits for what calls back: begins it, and returns what it completes with. Where it completes twice, the first time
/// counts, and the log says so; a task that is cancelled waits no longer. `withCheckedContinuation` would end the whole
/// program for the one, and wait for ever for the other.
/// - Parameter begin: begins the work, and hands on the completion that the work is to call.
public func withCompletion<Value: Sendable>(
    of type: Value.Type = Value.self, _ begin: (Completion<Value>) -> Void
) async throws -> Value {
    let completion = Completion<Value>()
    begin(completion)
    return try await completion.value()
}

/// What is called with the result of work that calls back, once, from any thread.
public final class Completion<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case complete(Result<Value, any Error>)
        case done
    }

    private let state = Mutex(State.open)
    private let repeated = CompletionReport.current?.repeated

    init() {}

    /// The work has come to this.
    public func callAsFunction(_ value: sending Value) { complete(.success(value), isOnce: true) }

    /// The work has failed.
    public func fail(_ error: any Error) { complete(.failure(error), isOnce: true) }

    private func complete(_ result: Result<Value, any Error>, isOnce: Bool) {
        var waiting: CheckedContinuation<Value, any Error>?
        var isLate = false
        state.withLock { state in
            switch state {
            case .open: state = .complete(result)
            case .awaited(let continuation):
                waiting = continuation
                state = .done
            case .complete, .done: isLate = true
            }
        }
        waiting?.resume(with: result)
        if isLate, isOnce { repeated?() }
    }

    fileprivate func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                var known: Result<Value, any Error>?
                state.withLock { state in
                    if case .complete(let result) = state {
                        known = result
                        state = .done
                    } else {
                        state = .awaited(continuation)
                    }
                }
                if let known { continuation.resume(with: known) }
            }
        } onCancel: {
            complete(.failure(CancellationError()), isOnce: false)
        }
    }
}

/// Whom a task tells of work that completed more than once.
package struct CompletionReport: Sendable {
    // not the closure itself: optimized, Swift 6.3 knows no type for an optional one as the value of a task
    @TaskLocal package static var current: CompletionReport?

    let repeated: @Sendable () -> Void

    package init(repeated: @escaping @Sendable () -> Void) { self.repeated = repeated }
}
