import ArgumentParser
import Formats
import Operation

struct UpgradeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Replace the daemon by a new process, without refusing a connection.",
        discussion: """
            The daemon starts the program at its own path again, with the same arguments. The new process takes over \
            the listening sockets. Once it serves, the old process finishes its exchanges and ends. If the new process \
            cannot serve, the old one continues, and the command exits with 1.
            """)

    @OptionGroup var options: ControlReportOptions

    func run() throws {
        let client = try options.control.runningClient()
        var state = try client.done("POST", "/v1/upgrade")
        let old = state["pid"]?.integer ?? 0
        let wait = PatientWait(interval: 50, limit: 120_000)
        func name() -> String { state["state"]?.text ?? "" }
        var absence: PatientWait?
        while state["pid"]?.integer == old, name() == "running" {
            guard wait.next() else {
                throw CommandExit.failure("the new process takes too long to start; see usher status")
            }
            // for a moment between the two processes, nothing may respond
            do throws(ControlClient.Fault) {
                if case .done(let answer) = try client.ask("GET", "/v1/upgrade") { state = answer }
                absence = nil
            } catch  where error.isNobody {
                let since = absence ?? PatientWait(interval: 50, limit: 2_000)
                absence = since
                guard since.next() else {
                    throw CommandExit.failure("the daemon has stopped, and no other replaced it: \(error.description)")
                }
            } catch {
                // the daemon is running but slow to respond
                continue
            }
        }
        let isDone = name() == "left" || name() == "done" && state["from"]?.integer == old
        let new = (name() == "left" ? state["to"] : state["pid"])?.integer ?? 0
        if options.json {
            let told = isDone ? ["from": old, "pid": new] : ["pid": old]
            let members = told.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) }
            let reason = state["reason"].map { [JSONValue.Member("reason", $0)] } ?? []
            Console.print(TerminalText.json(.object([.init("done", .bool(isDone))] + members + reason)) + "\n")
        }
        guard isDone else {
            throw CommandExit.failure(
                "the upgrade failed; process \(old) continues: \(TerminalText.shown(state["reason"]?.text ?? name()))"
            )
        }
        if !options.json {
            Console.print(
                "process \(new) serves; process \(old) finishes its exchanges and ends\n")
        }
    }
}
