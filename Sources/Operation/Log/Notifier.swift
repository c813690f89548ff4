import Authorization
import EventLoop
import Formats
import Glibc
import ProxyCore

/// Runs the command that tells somebody of a step-up that waits (`authorization.notify`), in the order of the step-ups.
/// What is told is in the command's environment; nothing of it is a secret.
final class Notifier: Sendable {
    private struct State {
        var calls: [(command: [String], variables: [String: String])] = []
        var isEnding = false
        /// Commands of which it has been told that they fail.
        var failed: Set<[String]> = []
        var hasToldOfMany = false
    }

    private let state = Locked(State())
    /// Held by whoever begins a command, so that they begin in their order.
    private let turn = Locked(false)
    private let queue = WorkQueue("notify", atOnce: 4, waiting: 64)

    /// Milliseconds that one may take.
    private static let limit = 10_000
    /// Milliseconds between two looks at those that run.
    private static let interval = 50
    /// What the end waits for commands that are being begun or ended.
    private static let timeout = 5_000

    /// From any thread; does not wait.
    func tell(_ id: TransactionID, _ transaction: OpenTransaction, _ command: [String]) {
        let variables = Self.variables(id, transaction)
        let isOverfull = state.withLock { state in
            do throws(WorkQueue.Refusal) {
                try queue.run { [self] in runNext() }
                state.calls.append((command, variables))
                return false
            } catch {
                defer { state.hasToldOfMany = true }
                return !state.hasToldOfMany
            }
        }
        if isOverfull {
            Console.error(
                "authorization.notify: more wait than \(command.first ?? "") keeps up with; not all are told of")
        }
    }

    func end() {
        state.signalAll { $0.isEnding = true }
        queue.rests(withinMilliseconds: Self.timeout)
    }

    static func variables(_ id: TransactionID, _ transaction: OpenTransaction) -> [String: String] {
        [
            "USHER_TRANSACTION": id.description, "USHER_CLIENT": transaction.client.address,
            "USHER_USER": transaction.client.user ?? "", "USHER_METHOD": transaction.method,
            "USHER_RESOURCE": transaction.resource, "USHER_AM": transaction.server,
            "USHER_REALM": transaction.realm, "USHER_TREE": transaction.tree ?? "",
            "USHER_ASKS": transaction.step.summary,
            "USHER_SECONDS": "\(max(0, transaction.until - transaction.since) / 1000)",
                // a value ends with a zero byte, and whatever shows it is no terminal to be steered
        ].mapValues(TerminalText.plain)
    }

    // MARK: the work

    private func runNext() {
        guard let (process, command) = turn.withLock({ _ in begin() }) else { return }
        let until = Loop.monotonicMilliseconds() + Self.limit
        repeat {
            if let status = process.status {
                if status != 0 { complain(command, "ended with status \(status)") }
                return
            }
            if Loop.monotonicMilliseconds() >= until {
                complain(command, "took longer than \(Self.limit / 1000) s and was ended")
                break
            }
        } while state.wait(milliseconds: Self.interval) { $0.isEnding ? true : nil } == nil
        process.kill()
    }

    /// - Returns: the command that waited longest, and runs now.
    private func begin() -> (QuietProcess, [String])? {
        let next = state.withLock { $0.isEnding || $0.calls.isEmpty ? nil : $0.calls.removeFirst() }
        guard let call = next else { return nil }
        do throws(CommandRun.Fault) {
            return (try QuietProcess(call.command, adding: call.variables), call.command)
        } catch {
            complain(call.command, error.description)
            return nil
        }
    }

    /// Once for each command: a broken one would fill the log.
    private func complain(_ command: [String], _ words: String) {
        guard state.withLock({ $0.failed.insert(command).inserted }) else { return }
        Console.error("authorization.notify: \(command.first ?? ""): \(words) (told of once)")
    }
}
