import ArgumentParser
import Formats
import Operation

struct FaultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults",
        abstract: "List the named faults of interceptors: what an app sees, and what it should do.",
        discussion: """
            An interceptor such as { name: busy, fault: am-unavailable, first: 2 } does to the app what AM, a Gateway or \
            the network may do to it. It applies to the exchanges that the fault concerns, and to no call of Usher's own \
            unless its condition has by: usher.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() {
        Console.print(
            json ? FaultList.json.serialized + "\n" : FaultList.text(TextStyle(environment: ProcessEnvironment.all)))
    }
}
