import ArgumentParser
import Configuration
import Glibc
import Operation
import Sandbox
import TLSEngine

struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Run a test AM with a Gateway and a protected resource.",
        discussion: """
            AM is at /am (users demo and user1 to user9, password changeit). Resources at /shop/ require a transaction \
            per access; /api/ requires an access token. Helpers are at /plain/, counts at /sandbox/status. Every host \
            name serves the same content. The front page lists all of it.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp("Where to listen. Port 0 picks a free one. Repeatable.", valueName: "address:port"))
    var listen: [String] = []

    @Flag(
        name: .customLong("tls"), help: "Serve HTTPS, with certificates of a CA that ends with the sandbox.")
    var speaksTLS = false

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "Where to write that CA's certificate (default: a temporary file, named at the start).",
            valueName: "file"))
    var authorityFile: String?

    @OptionGroup
    var switches: SandboxSwitches

    func validate() throws {
        if authorityFile != nil, !speaksTLS { throw ValidationError("--ca-file requires --tls") }
    }

    func run() throws {
        let listeners = try Self.listeners(listen.isEmpty ? ["127.0.0.1:9080", "[::1]:9080"] : listen)
        let options = try switches.options()
        try Self.serve("sandbox", listeners, authorityFile: speaksTLS ? .some(authorityFile) : nil) {
            try SandboxService(options: options, listen: $0, authority: $1, log: $2)
        }
    }
}

/// What servers for tests share.
extension SandboxCommand {
    static func listeners(_ texts: [String]) throws -> [Listener] {
        try texts.map { text in
            guard let listener = Listener(text) else {
                throw CommandExit.usage("--listen \(text): expected 127.0.0.1:9080 or [::1]:9080")
            }
            return listener
        }
    }

    /// Serves until a signal.
    /// - Parameters:
    ///   - authorityFile: where to write the CA's certificate, or nil in it for a temporary file; nil for plain HTTP.
    ///   - service: makes the service of listening addresses, a CA and a log.
    static func serve(
        _ name: String, _ listeners: [Listener], authorityFile: String??,
        _ service: (
            [(String, UInt16)], SandboxAuthority?, @escaping @Sendable (String) -> Void
        ) throws -> SandboxService
    ) throws {
        do {
            let authority = authorityFile == nil ? nil : try SandboxAuthority()
            let file = try authority.map { try CertificateFile($0.certificate, at: authorityFile ?? nil) }
            defer { file?.removeIfTemporary() }
            let service = try service(listeners.map { ($0.host, $0.port) }, authority) { Console.print($0 + "\n") }
            if let file {
                Console.plain(
                    "\(name): the CA is in \(file.path); clients and Usher (tls.upstream.extra_trust) must trust it")
            }
            for (listener, port) in zip(listeners, service.boundPorts) {
                var bound = listener
                bound.port = port
                Console.plain("\(name): listening on \(authority == nil ? "" : "https://")\(bound)")
            }
            try service.run(until: [SIGINT, SIGTERM])
        } catch let failure as SandboxService.Failure {
            throw CommandExit.failure(failure.description)
        } catch let fault as MaterialFault {
            throw CommandExit.failure("the CA \(fault.words)")
        } catch let error as FileError {
            throw CommandExit.failure(error.description)
        }
    }
}
