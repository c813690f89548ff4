import ArgumentParser
import Configuration
import Formats
import Operation

/// Options that select the daemon.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's control socket (also: USHER_SOCKET; USHER_URL and USHER_TOKEN for admin.listen).",
            valueName: "path"))
    var socket: String?

    @OptionGroup var file: ConfigurationFile

    /// Refuses an empty id, which comes from an unset shell variable and must not mean all.
    static func mustName(_ id: String?) throws {
        guard id?.isEmpty != true else { throw ValidationError("the id is empty") }
    }

    /// A client for commands that must work even if the configuration has errors, which the daemon reports.
    func runningClient() throws -> ControlClient {
        if let distant = try distantClient() { return distant }
        return ControlClient(
            ControlPath.candidates(
                given: socket, socket == nil ? file.controlSocket : nil, ProcessEnvironment.all))
    }

    /// - Throws: exit code 1 if a named configuration has errors.
    func client() throws -> ControlClient {
        if let distant = try distantClient() { return distant }
        var snapshot: Snapshot?
        if socket == nil {
            if !file.config.isEmpty {
                snapshot = try file.loadOrExit(warns: false, missing: .noted)
            } else if case .success(let usual) = file.load(missing: .noted) {
                // if this user may not read the configuration, the standard paths are tried
                snapshot = usual
            }
        }
        return ControlClient(
            ControlPath.candidates(given: socket, snapshot?.controlSocket, ProcessEnvironment.all))
    }

    /// The client of USHER_URL, unless a socket is given, which takes precedence.
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

/// Options of commands that show a response of the daemon.
struct ControlReportOptions: ParsableArguments {
    @OptionGroup var control: ControlOptions

    @Flag(help: "Print JSON.")
    var json = false

    /// - Parameter text: formats the response for people.
    func report(
        _ method: String, _ path: String, naming name: String = "", _ text: (JSONValue, TextStyle) -> String
    ) throws {
        show(try control.client().done(method, path, naming: name), text)
    }

    func show(_ answer: JSONValue, _ text: (JSONValue, TextStyle) -> String) {
        Console.print(
            json ? TerminalText.json(answer) + "\n" : text(answer, TextStyle(environment: ProcessEnvironment.all)))
    }
}

extension ControlClient {
    /// The daemon's response, or exit code 1 with its message.
    func done(
        _ method: String, _ path: String, naming name: String = "", body: JSONValue? = nil, within limit: Int? = nil
    ) throws -> JSONValue {
        switch try reply(method, path, naming: name, body: body, within: limit) {
        case .done(let value): return value
        case .refused(_, let words):
            throw CommandExit.failure(
                words.split(separator: "\n").map { TerminalText.shown(String($0)) }.joined(separator: "\n"))
        }
    }

    /// The daemon's response, even if it is a refusal; exit code 1 if no daemon responds.
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
