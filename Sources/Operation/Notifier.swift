import Authorization
import EventLoop
import Formats
import Glibc
import ProxyCore

/// Runs the command that tells somebody of a step-up that waits (`authorization.notify`), on a thread of its own that is begun
/// with the first. What is told is in the command's environment; nothing of it is a secret.
final class Notifier: Sendable {
    private struct Call: Sendable {
        let command: [String]
        let variables: [String: String]
    }

    private struct Work {
        var calls: [Call] = []
        var thread: SystemThread?
        var isEnding = false
        /// Commands of which it has been told that they fail.
        var failed: Set<[String]> = []
        var hasToldOfMany = false
    }

    private let work = Locked(Work())

    /// Those that wait for their turn; beyond that nobody is told.
    private static let most = 64
    /// Commands that run at the same time.
    private static let atOnce = 4
    /// Milliseconds that one may take.
    private static let limit = 10_000
    /// Milliseconds between two looks at those that run.
    private static let interval = 50

    /// From any thread; does not wait.
    func tell(_ id: TransactionID, _ transaction: OpenTransaction, _ command: [String]) {
        let call = Call(command: command, variables: Self.variables(id, transaction))
        var isOverfull = false
        work.signal { work in
            guard work.calls.count < Self.most else {
                isOverfull = !work.hasToldOfMany
                work.hasToldOfMany = true
                return
            }
            work.calls.append(call)
            if work.thread == nil { work.thread = try? SystemThread(name: "notify") { [self] in run() } }
        }
        if isOverfull {
            Console.error(
                "authorization.notify: more wait than \(command.first ?? "") keeps up with; not all are told of")
        }
    }

    func end() {
        let thread = work.withLock { $0.thread }
        work.signal { work in
            work.isEnding = true
            work.calls = []
        }
        thread?.join()
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

    // MARK: the thread

    private enum Step {
        case begin(Call)
        /// Those that run are looked after.
        case look
        case end
    }

    private struct Child {
        let process: QuietProcess
        let command: [String]
        let until: Int
    }

    private func run() {
        var children: [Child] = []
        while true {
            switch next(beside: children.count) {
            case .begin(let call):
                do throws(CommandRun.Fault) {
                    children.append(
                        Child(
                            process: try QuietProcess(call.command, adding: call.variables), command: call.command,
                            until: Loop.monotonicMilliseconds() + Self.limit))
                } catch {
                    complain(call.command, error.description)
                }
            case .look: break
            case .end:
                for child in children { child.process.kill() }
                return
            }
            children.removeAll(where: isOver)
        }
    }

    /// What is to be done next; waits for it, but not for long where commands run.
    private func next(beside running: Int) -> Step {
        func step(_ work: inout Work) -> Step? {
            if work.isEnding { return .end }
            guard running < Self.atOnce, !work.calls.isEmpty else { return nil }
            return .begin(work.calls.removeFirst())
        }
        return running == 0 ? work.wait(step) : work.wait(milliseconds: Self.interval, step) ?? .look
    }

    private func isOver(_ child: Child) -> Bool {
        if let status = child.process.status {
            if status != 0 { complain(child.command, "ended with status \(status)") }
            return true
        }
        guard Loop.monotonicMilliseconds() >= child.until else { return false }
        child.process.kill()
        complain(child.command, "took longer than \(Self.limit / 1000) s and was ended")
        return true
    }

    /// Once for each command: a broken one would fill the log.
    private func complain(_ command: [String], _ words: String) {
        guard work.withLock({ $0.failed.insert(command).inserted }) else { return }
        Console.error("authorization.notify: \(command.first ?? ""): \(words) (told of once)")
    }
}
