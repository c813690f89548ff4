import ArgumentParser
import Operation

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write recorded traffic to an HTTP Archive (HAR).",
        discussion: """
            An HTTP Archive (HAR 1.2) opens in the network panel of a browser's developer tools. Secrets are replaced by their \
            aliases. Filters are those of usher flows. Tunnels that were not opened are left out: nothing of them is known.
            """)

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("The file of the HTTP Archive; - for standard output.", valueName: "file"))
    var har: String

    @Flag(help: "With the secrets, where the journal holds them (journal.reveal): the file is for nobody else.")
    var reveal = false

    @Argument(help: ArgumentHelp("What is asked for, as in status=4xx.", valueName: "filter"))
    var filter: [String] = []

    func validate() throws {
        guard !har.isEmpty else { throw ValidationError("--har takes the name of a file, or -") }
    }

    func run() throws {
        let terms = try FlowTerms.given(filter)
        let client = try control.client()
        let pages = FlowPages(terms, reveals: reveal) { try client.done("GET", $0) }
        var progress = ProgressLine(of: "flows")
        let file = try CommandContext.reporting { () throws(FileError) in
            try OutputFile(har == "-" ? nil : har)
        }
        let count = try pages.archive(
            { bytes in try CommandContext.reporting { () throws(FileError) in try file.write(bytes) } },
            progress: { progress.show($0) })
        progress.end()
        if har != "-" { Console.note("\(count) flows are in \(har)\n") }
    }
}
