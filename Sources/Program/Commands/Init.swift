import ArgumentParser
import Operation

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a first configuration, from five questions or from recorded traffic.",
        discussion: """
            On a terminal, the command asks for what no option gives: AM, its realms, the protected resources, the hosts \
            whose TLS is opened, and the hosts that may be reached at all. With --har, it finds AM, the logins and the protected resources in recorded \
            traffic (an HTTP Archive of a browser). It takes only names from that traffic. It never overwrites a file.
            """)

    @Option(help: ArgumentHelp("AM's base URL, such as https://am.example.com/am.", valueName: "url"))
    var am: String?

    @Option(help: ArgumentHelp("A realm in which Usher may authenticate. Repeatable.", valueName: "realm"))
    var realm: [String] = []

    @Option(help: ArgumentHelp("The name of the session cookie.", valueName: "name"))
    var cookie: String?

    @Option(help: ArgumentHelp("Protected resources: a glob over URLs. Repeatable.", valueName: "url"))
    var resource: [String] = []

    @Option(
        help: ArgumentHelp(
            "Open the TLS of this host or host glob (default: all named hosts). Repeatable.",
            valueName: "host"))
    var intercept: [String] = []

    @Option(
        help: ArgumentHelp(
            "Refuse all hosts but this host or host glob (default: refuse none). Repeatable.", valueName: "host"))
    var only: [String] = []

    @Option(help: ArgumentHelp("Read the proposals from this recorded traffic.", valueName: "file"))
    var har: String?

    @Option(help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"))
    var output = "usher.yaml"

    func run() throws {
        var first = try proposal()
        if let am { first.server = am }
        if !realm.isEmpty { first.realms = realm }
        if let cookie { first.cookie = cookie }
        if !resource.isEmpty { first.resources = resource }
        if !intercept.isEmpty { first.intercepted = intercept }
        first.reached = only
        if har == nil {
            if Questions.canBeAsked, output != "-" {
                try ask(&first)
            } else if am == nil {
                throw CommandExit.usage("there is no terminal to ask questions on: give --am URL or --har FILE")
            }
        }
        if let fault = first.faults.first { throw CommandExit.usage(fault) }
        if output == "-" { return Console.print(first.text) }
        try CommandContext.reporting { () throws(FileError) in
            try Output.create(Array(first.text.utf8), at: output)
        }
        for warning in first.warnings { Console.error("\(output): \(warning)") }
        Console.error("\(output) is written; after a change, run usher check \(output)")
    }

    private func proposal() throws -> FirstConfiguration {
        guard let har else { return FirstConfiguration() }
        do {
            return try FirstConfiguration(har: try Input.read(har, limit: 64 << 20))
        } catch let fault as FirstConfiguration.Fault {
            throw CommandExit.usage("\(har): \(fault.description)")
        } catch let fault as Input.Fault {
            throw CommandExit.usage(fault.description)
        }
    }

    // MARK: questions

    private func ask(_ first: inout FirstConfiguration) throws {
        if am == nil {
            try Questions.ask("AM's base URL", first.server, into: &first) { $0.server = $1.first ?? $0.server }
        }
        if realm.isEmpty {
            try Questions.ask("Realms in which users sign in", first.realms.joined(separator: ", "), into: &first) {
                $0.realms = $1
            }
        }
        if resource.isEmpty {
            let words = "Protected resources, such as https://shop.example.com/api/*"
            try Questions.ask(words, "none", into: &first) { $0.resources = $1 }
        }
        if intercept.isEmpty {
            let hosts = first.hosts
            let shown = hosts.isEmpty ? "none" : hosts.joined(separator: ", ")
            try Questions.ask("Hosts whose TLS is opened", shown, into: &first) { $0.intercepted = $1 }
        }
        if only.isEmpty {
            let words = "Hosts that Usher may reach, and no other; none: all hosts"
            try Questions.ask(words, first.named.joined(separator: ", "), into: &first) { $0.reached = $1 }
        }
    }
}
