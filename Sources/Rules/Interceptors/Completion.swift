internal import Synchronization

/// Starts work with a callback and waits for its result. If the work completes twice, the first result counts and the log reports
/// it; a cancelled task stops waiting. `withCheckedContinuation` would end the program in the first case, and wait forever in the
/// second.
/// - Parameter begin: starts the work and passes it the completion to call.
public func withCompletion<Value: Sendable>(
    of type: Value.Type = Value.self, _ begin: (Completion<Value>) -> Void
) async throws -> Value {
    let completion = Completion<Value>()
    begin(completion)
    return try await completion.value()
}

/// The callback for the result of the work. Call it once, from any thread.
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

    /// Completes with a value.
    public func callAsFunction(_ value: sending Value) { complete(.success(value), isOnce: true) }

    /// Completes with an error.
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

/// Reports work that completed more than once to its task.
package struct CompletionReport: Sendable {
    // not the closure itself: with optimization, Swift 6.3 has no type for an optional closure as a task-local value
    @TaskLocal package static var current: CompletionReport?

    let repeated: @Sendable () -> Void

    package init(repeated: @escaping @Sendable () -> Void) { self.repeated = repeated }
}
