import ArgumentParser
public import Interceptors
import TLSEngine

struct UsherCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usher",
        abstract: "A forward proxy that knows what an app's calls to PingAM mean, and steps up for it.",
        version: VersionCommand.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Start", subcommands: [Init.self, Check.self, Serve.self, Run.self, EnvironmentCommand.self]),
            CommandGroup(
                name: "Look",
                subcommands: [
                    StatusCommand.self, FlowsCommand.self, FlowCommand.self, JourneysCommand.self, JourneyCommand.self,
                    ExportCommand.self, ReplayCommand.self, UICommand.self, DoctorCommand.self,
                ]),
            CommandGroup(
                name: "Step-ups",
                subcommands: [
                    TransactionsCommand.self, AnswerCommand.self, DenyCommand.self, LockoutCommand.self,
                    DevicesCommand.self,
                ]),
            CommandGroup(
                name: "Test",
                subcommands: [
                    SessionCommand.self, VerifyCommand.self, RecordCommand.self, ReplayServerCommand.self,
                    TestCommand.self, Explain.self, FaultsCommand.self, SandboxCommand.self,
                ]),
            CommandGroup(
                name: "Operate",
                subcommands: [
                    ReloadCommand.self, DrainCommand.self, UpgradeCommand.self, LogLevelCommand.self,
                    AuthorityCommand.self, VersionCommand.self,
                ]),
        ])

    /// Exit codes: 0 done, 1 the answer is no, 2 wrong use.
    static func main() {
        do {
            guard Library.begin() else { throw CommandExit.failure("OpenSSL cannot be initialized") }
            var command = try parseAsRoot()
            try command.run()
        } catch {
            let code = exitCode(for: error)
            if code == .success {
                exit(withError: error)
            }
            if case .validationFailure = code {
                CommandExit.stop(fullMessage(for: error))
            }
            exit(withError: error)
        }
    }
}

/// The command line of `usher`, and of programs with interceptors of their own.
public enum CommandLineProgram {
    /// Runs the command in the process's arguments and exits.
    /// - Parameter interceptors: the interceptors that configurations may name with `swift`.
    public static func main(_ interceptors: [String: any Interceptor]) {
        RegisteredInterceptors.all = interceptors
        UsherCommand.main()
    }
}
