import ArgumentParser
import Configuration
import Formats
import Operation

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why traffic does not get through.",
        discussion: """
            Without a command, doctor asks the running proxy, asks AM through it, and reads this shell's variables. \
            With a command, it runs the command as usher run does, and judges the traffic. The exit status is 0 if \
            there is no problem, else 1.
            """)

    @OptionGroup var file: ConfigurationFile

    @OptionGroup var intercepted: InterceptedHosts

    @OptionGroup var passed: PassedVariables

    @Flag(help: "Print JSON. The command's own output then goes to standard error.")
    var json = false

    @Argument(parsing: .postTerminator, help: "After --: the program, searched in PATH, and its arguments.")
    var command: [String] = []

    func run() throws {
        // an inspection needs no secrets, but a command may
        var context = try CommandContext(file, missing: command.isEmpty ? .noted : .refused)
        try intercepted.add(to: &context.snapshot)
        let doctor = Doctor(context.snapshot, state: context.state, environment: context.environment)
        let findings = command.isEmpty ? doctor.examine() : try observe(context, doctor)
        if json {
            Console.print(JSONValue.array(findings.map(\.json)).serialized + "\n")
        } else {
            for finding in findings { Console.print(finding.line + "\n") }
        }
        if findings.contains(where: { $0.verdict == .problem }) { throw ExitCode(1) }
    }

    private func observe(_ context: CommandContext, _ doctor: Doctor) throws -> [Finding] {
        let environment = passed.environment(context)
        var run = CommandRun(
            context.snapshot, bundle: try context.bundle(), environment: environment, isPrivate: true)
        let collector = RecordCollector()
        run.recorder = collector.recorder
        run.turnsOutputToError = json
        do throws(CommandRun.Fault) {
            let status = try run(command).status
            return doctor.judge(collector.all, command: command, status: status, withheld: environment.withheld)
        } catch {
            Console.error(error.description)
            throw ExitCode(error.status)
        }
    }
}
