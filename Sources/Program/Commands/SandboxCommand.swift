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
        let listeners = try (listen.isEmpty ? ["127.0.0.1:9080", "[::1]:9080"] : listen).map { text in
            guard let listener = Listener(text) else {
                throw CommandExit.usage("--listen \(text): expected 127.0.0.1:9080 or [::1]:9080")
            }
            return listener
        }
        let options = try switches.options()
        do {
            let authority = speaksTLS ? try SandboxAuthority() : nil
            let file = try authority.map { try CertificateFile($0.certificate, at: authorityFile) }
            defer { file?.removeIfTemporary() }
            let service = try SandboxService(
                options: options, listen: listeners.map { ($0.host, $0.port) }, authority: authority
            ) { line in Console.print(line + "\n") }
            if let file {
                Console.plain(
                    "sandbox: the CA is in \(file.path); clients and Usher (tls.upstream.extra_trust) must trust it")
            }
            for (listener, port) in zip(listeners, service.boundPorts) {
                var bound = listener
                bound.port = port
                Console.plain("sandbox: listening on \(speaksTLS ? "https://" : "")\(bound)")
            }
            try service.run(until: [SIGINT, SIGTERM])
        } catch let failure as SandboxService.Failure {
            throw CommandExit.failure(failure.description)
        } catch let fault as MaterialFault {
            throw CommandExit.failure("the sandbox's CA \(fault.words)")
        } catch let error as FileError {
            throw CommandExit.failure(error.description)
        }
    }
}
