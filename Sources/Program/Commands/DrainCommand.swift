import ArgumentParser
import Formats
import Operation

struct DrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Stop the daemon once its exchanges are finished.",
        discussion: """
            After timeouts.drain, the daemon cuts off what is left. SIGTERM does the same; a second signal ends the \
            daemon at once.
            """)

    @OptionGroup var control: ControlOptions

    @Flag(inversion: .prefixedNo, help: "Wait until the daemon has stopped, and show what is left.")
    var wait = true

    @Flag(help: "Print JSON: the daemon's status at the start of the drain.")
    var json = false

    func run() throws {
        let client = try control.runningClient()
        var status = try client.done("POST", "/v1/drain")
        if json { Console.print(TerminalText.json(status) + "\n") }
        guard wait else { return }
        let began = status["pid"]?.integer
        var last = ""
        let patience = PatientWait(interval: 100, limit: nil)
        while status["pid"]?.integer == began {
            let left = status["connections"]?["open"]?.integer ?? 0
            let exchanges = status["exchanges"]?["under_way"]?.integer ?? 0
            let words =
                "\(left) \(left == 1 ? "connection" : "connections") left, "
                + "\(exchanges) \(exchanges == 1 ? "exchange" : "exchanges") under way"
            if words != last, !json { Console.error(words) }
            last = words
            _ = patience.next()
            do throws(ControlClient.Fault) {
                if case .done(let answer) = try client.ask("GET", "/v1/status") { status = answer }
            } catch  where error.isNobody {
                break
            } catch  where error.hasHungUp {
                // the daemon is about to end; the next request finds out whether it has
            } catch {
                // the daemon is running but slow to respond
                if error.description != last, !json { Console.error(error.description) }
                last = error.description
            }
        }
        if !json { Console.print("the daemon has stopped\n") }
    }
}
