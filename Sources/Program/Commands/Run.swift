import ArgumentParser
import Configuration
import Operation

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run one command behind a proxy of its own.",
        discussion: """
            The proxy listens on a free loopback port, and ends with the command. usher exits with the command's \
            status. The command keeps its input and output. --log writes an access log. The command does not get the \
            variables that the configuration reads with ${env.NAME}. Within the command, usher flows and similar \
            commands talk to this proxy. At the end, usher sums the traffic up, and judges it by \
            expect of the configuration and by --expect. It exits with 1 if the command succeeds and an expectation is \
            unmet.
            """)

    @OptionGroup var file: ConfigurationFile

    @OptionGroup var intercepted: InterceptedHosts

    @OptionGroup var passed: PassedVariables

    @Option(help: ArgumentHelp("Append the access log to this file.", valueName: "file"))
    var log: String?

    @OptionGroup var report: RunReport

    @Argument(parsing: .postTerminator, help: "After --: the program, searched in PATH, and its arguments.")
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("give the command after --: usher run -- COMMAND") }
    }

    func run() throws {
        var context = try CommandContext(file)
        try intercepted.add(to: &context.snapshot)
        if log != nil { context.snapshot.log.access = .json }
        var run = CommandRun(context.snapshot, bundle: try context.bundle(), environment: passed.environment(context))
        if let log { run.log = try CommandContext.reporting { () throws(FileError) in try Output.appending(to: log) } }
        let files = try report.open(context.snapshot, keepsEarlier: run.keepsEarlier)
        var failure: (any Error)?
        var (earlier, unmet) = (0, 0)
        run.atStart = { client in
            do { earlier = try files.earlier(client) } catch { failure = error }
        }
        run.atEnd = { [report] client in
            do {
                try report.write(client, to: files, after: earlier)
                unmet = try report.judge(client, files, after: earlier)
            } catch {
                failure = error
            }
        }
        let outcome: CommandRun.Outcome
        do throws(CommandRun.Fault) {
            outcome = try run(command)
        } catch {
            Console.error(error.description)
            throw ExitCode(error.status)
        }
        let status = report.end(outcome, of: command, unmet: unmet)
        if let failure, status == 0 { throw failure }
        throw ExitCode(status)
    }
}
