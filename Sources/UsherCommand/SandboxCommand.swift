import ArgumentParser
import Configuration
import Glibc
import Sandbox
import Usher

struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Run an AM, a Gateway and a protected resource in one process, to try everything without a tenant.",
        discussion: """
            AM is at /am (users demo and user1 to user9, password changeit), resources that ask for a transaction per \
            access at /shop/, helpers at /plain/. Every host name leads to the same place.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp("Where to listen; may be repeated. Port 0 picks a free one.", valueName: "address:port"))
    var listen: [String] = []

    func run() throws {
        let listeners = try (listen.isEmpty ? ["127.0.0.1:9080", "[::1]:9080"] : listen).map { text in
            guard let listener = Listener(text) else {
                throw Complaint.use("--listen \(text): expected 127.0.0.1:9080 or [::1]:9080")
            }
            return listener
        }
        do {
            let service = try SandboxService(listen: listeners.map { ($0.host, $0.port) }) { line in
                Console.print(line + "\n")
            }
            for (listener, port) in zip(listeners, service.boundPorts) {
                var bound = listener
                bound.port = port
                Console.plain("sandbox: listening on \(bound)")
            }
            try service.run(until: [SIGINT, SIGTERM])
        } catch let failure as SandboxService.Failure {
            throw Complaint.no(failure.description)
        }
    }
}
