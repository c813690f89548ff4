import ArgumentParser
import Configuration
import Formats
import Operation

struct EnvironmentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "env",
        abstract: "Print the environment variables that point programs at the proxy and its CA.",
        discussion: #"For a shell: eval "$(usher env)""#)

    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let context = try CommandContext(file, missing: .noted)
        for note in context.snapshot.warnings where note.severity == .note { Console.plain(note.description) }
        guard let proxy = ProxyAddress(context.snapshot.listeners) else {
            throw CommandExit.failure("listen has no port; add one, or use usher run -- COMMAND")
        }
        if context.snapshot.asksForPassword {
            Console.error("the proxy requires a password: put USER:PASSWORD@ before \(proxy.authority) in the URLs")
        }
        let bundle = try context.bundle(beside: proxy)
        let variables = ProxyVariables(proxy: proxy, bundle: bundle, environment: context.environment)
        Console.print(json ? variables.json.serialized + "\n" : variables.shell)
    }
}
