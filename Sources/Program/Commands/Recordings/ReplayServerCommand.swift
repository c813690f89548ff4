import ArgumentParser
import Configuration
import Formats
import Glibc
import HTTPCodec
import Operation
import Recordings
import Sandbox
import Synchronization
import TLSEngine

struct ReplayServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay-server",
        abstract: "Serve a recording in place of the recorded servers.",
        discussion: """
            The app talks to this server instead of AM, or uses it as its proxy. Sessions, codes, tokens and ids are \
            new in each conversation and hang together. Tokens are signed by a test key, which …/connect/jwk_uri shows. \
            A request that fits no exchange gets 501, with the nearest exchange and the differences.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp("Where to listen. Port 0 picks a free one. Repeatable.", valueName: "address:port"))
    var listen: [String] = []

    @Option(help: "strict: secrets must be those that the server gave out. loose: secrets, ids and times do not count.")
    var mode = "strict"

    @Flag(name: .customLong("tls"), help: "Serve HTTPS, with certificates of a CA that ends with the server.")
    var speaksTLS = false

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp("Where to write that CA's certificate (default: a temporary file).", valueName: "file"))
    var authorityFile: String?

    @Argument(help: "The folder of the recording.")
    var recording: String

    func validate() throws {
        if authorityFile != nil, !speaksTLS { throw ValidationError("--ca-file requires --tls") }
        guard ReplayMode(rawValue: mode).map({ $0 != .spy }) ?? false else {
            throw ValidationError("--mode expects strict or loose")
        }
    }

    func run() throws {
        let listeners = try SandboxCommand.listeners(listen.isEmpty ? ["127.0.0.1:9080"] : listen)
        let replay = Replay(
            try Recording.read(recording), ReplayMode(rawValue: mode) ?? .strict, key: try Recording.key())
        let state = ReplayState(replay)
        try SandboxCommand.serve(
            "replay-server", listeners, authorityFile: speaksTLS ? .some(authorityFile) : nil
        ) { listen, authority, log in
            try SandboxService(listen: listen, authority: authority, log: log) { state.answer($0, now: $1) }
        }
    }
}

/// The replay behind a server.
private final class ReplayState: Sendable {
    private let replay: Mutex<Replay>

    init(_ replay: Replay) { self.replay = Mutex(replay) }

    func answer(_ request: SandboxRequest, now: Int) -> SandboxResponse {
        let question = Replay.Request(
            method: request.head.methodText, url: request.head.url,
            message: RecordedMessage(
                fields: request.head.fields.lines.map { ($0.name, $0.value) }, body: request.body))
        return replay.withLock { replay in
            do throws(Replay.Miss) {
                let answer = try replay.answer(question, now: now)
                // the server writes its own
                let fields = answer.message.fields.filter { !ASCII.equal($0.name, "Server") }
                return SandboxResponse(
                    answer.status, note: answer.name, fields: fields, body: .bytes(answer.message.body))
            } catch {
                return SandboxResponse(
                    501, note: error.description, fields: [("Content-Type", "application/json")],
                    body: .bytes(Array(error.json.serialized.utf8)))
            }
        }
    }
}
