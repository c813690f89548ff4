import ArgumentParser
import Configuration
import Formats
import Operation

/// Which daemon a command speaks to.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's control socket (or USHER_SOCKET; USHER_URL and USHER_TOKEN ask its admin.listen).",
            valueName: "path"))
    var socket: String?

    @OptionGroup var file: ConfigurationFile

    /// An empty id is a variable that was never set, and means neither one nor all.
    static func mustName(_ id: String?) throws {
        guard id?.isEmpty != true else { throw ValidationError("the id is empty") }
    }

    /// For what has to work though the configuration has faults by now: of those the daemon is to tell.
    func runningClient() throws -> ControlClient {
        if let distant = try distantClient() { return distant }
        return ControlClient(
            ControlPath.candidates(
                given: socket, socket == nil ? file.controlSocket : nil, ProcessEnvironment.all))
    }

    /// - Throws: exit 1 where a configuration that was named has faults.
    func client() throws -> ControlClient {
        if let distant = try distantClient() { return distant }
        var snapshot: Snapshot?
        if socket == nil {
            if !file.config.isEmpty {
                snapshot = try file.loadOrExit(warns: false, missing: .noted)
            } else if case .success(let usual) = file.load(missing: .noted) {
                // where this user may not read it, the usual places are looked at
                snapshot = usual
            }
        }
        return ControlClient(
            ControlPath.candidates(given: socket, snapshot?.controlSocket, ProcessEnvironment.all))
    }

    /// The one of USHER_URL, unless a socket is named, which is nearer.
    private func distantClient() throws -> ControlClient? {
        let environment = ProcessEnvironment.all
        guard socket == nil, environment[ControlPath.variable]?.isEmpty != false else { return nil }
        do throws(ControlClient.Fault) {
            return try ControlURL(environment).map(ControlClient.init)
        } catch {
            throw CommandExit.usage(error.description)
        }
    }
}

/// A command that shows what the daemon answers.
struct ControlReportOptions: ParsableArguments {
    @OptionGroup var control: ControlOptions

    @Flag(help: "Print JSON.")
    var json = false

    /// - Parameter text: the answer for somebody's eyes.
    func report(
        _ method: String, _ path: String, naming name: String = "", _ text: (JSONValue, TextStyle) -> String
    ) throws {
        let answer = try control.client().done(method, path, naming: name)
        Console.print(
            json
                ? TerminalText.json(answer) + "\n" : text(answer, TextStyle(environment: ProcessEnvironment.all)))
    }
}

extension ControlClient {
    /// What the daemon says, or exit 1 with its words.
    func done(
        _ method: String, _ path: String, naming name: String = "", body: JSONValue? = nil, within limit: Int? = nil
    ) throws -> JSONValue {
        switch try reply(method, path, naming: name, body: body, within: limit) {
        case .done(let value): return value
        case .refused(_, let words): throw CommandExit.failure(TerminalText.shown(words))
        }
    }

    /// The same, refusals included; exit 1 where nobody answers.
    func reply(
        _ method: String, _ path: String, naming name: String = "", body: JSONValue? = nil, within limit: Int? = nil
    ) throws -> ControlClient.Reply {
        do throws(ControlClient.Fault) {
            return try ask(method, path, naming: name, body: body, within: limit)
        } catch {
            throw CommandExit.failure(error.description)
        }
    }
}
