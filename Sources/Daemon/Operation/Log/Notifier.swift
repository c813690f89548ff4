import Authorization
import EventLoop
import Glibc
import ProxyCore

/// Runs the command of `authorization.notify` for each waiting step-up, in order. The command's environment describes the
/// step-up, without secrets.
final class Notifier: Sendable {
    private struct State {
        var calls: [(command: [String], variables: [String: String])] = []
        var isEnding = false
        /// The commands whose failure was reported.
        var failed: Set<[String]> = []
        var hasToldOfMany = false
    }

    private let state = Locked(State())
    /// Held while a command starts, which keeps the order.
    private let turn = Locked(false)
    private let queue = WorkQueue("notify", atOnce: 4, waiting: 64)

    /// The time limit of a command, in milliseconds.
    private static let limit = 10_000
    /// The polling interval of running commands, in milliseconds.
    private static let interval = 50
    /// The longest wait at the end for commands that start or end, in milliseconds.
    private static let timeout = 5_000

    /// Callable from any thread; does not wait.
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
                "authorization.notify: \(command.first ?? "") is too slow; some notifications are dropped")
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
                // a NUL would end the value, and the program that shows it may not filter control characters
        ].mapValues(TerminalText.plain)
    }

    // MARK: work

    private func runNext() {
        guard let (process, command) = turn.withLock({ _ in start() }) else { return }
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

    /// - Returns: the command that waited longest, which now runs.
    private func start() -> (QuietProcess, [String])? {
        let next = state.withLock { $0.isEnding || $0.calls.isEmpty ? nil : $0.calls.removeFirst() }
        guard let call = next else { return nil }
        do throws(CommandRun.Fault) {
            return (try QuietProcess(call.command, adding: call.variables), call.command)
        } catch {
            complain(call.command, error.description)
            return nil
        }
    }

    /// Reports a failure once per command, so that a broken one does not fill the log.
    private func complain(_ command: [String], _ words: String) {
        guard state.withLock({ $0.failed.insert(command).inserted }) else { return }
        Console.error("authorization.notify: \(command.first ?? ""): \(words) (logged once)")
    }
}
