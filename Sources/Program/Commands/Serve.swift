import ArgumentParser
import Configuration
import Operation

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the proxy in the foreground.",
        discussion: """
            Point an app at the proxy with HTTP_PROXY. SIGTERM and SIGINT let exchanges under way finish, then stop \
            the proxy. SIGHUP reloads the configuration. usher status, reload, drain and upgrade control the running \
            proxy.
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Listen here instead of on the configured addresses. Port 0 picks a free one. Repeatable.",
            valueName: "address:port"))
    var listen: [String] = []

    func run() throws {
        EarlySignals.hold()
        // must precede the reading of the configuration's keys
        ProcessEnvironment.hideMemory()
        let listeners = try listen.map { text in
            guard let listener = Listener(text) else {
                throw CommandExit.usage(
                    "--listen \(text): expected 127.0.0.1:3128, [::1]:3128 or, for TLS, https://127.0.0.1:3129")
            }
            return listener
        }
        let file = file
        @Sendable func replaced(_ snapshot: Snapshot) -> Snapshot {
            var snapshot = snapshot
            if !listeners.isEmpty { snapshot.listeners = listeners }
            return snapshot
        }
        // a file that is being replaced may be missing for a moment
        let isThere = !Input.isMissing(ConfigurationFile.standard)
        let trust = TrustAhead()
        defer { trust.finish() }
        let snapshot = replaced(
            try file.loadOrExit { Handover.fail($0.diagnostics.first?.description ?? "its configuration has faults") })
        do {
            try Supervisor(
                snapshot, trust: trust,
                overlays: { OverlayLoader($0, variables: $1, interceptors: RegisteredInterceptors.all) },
                reload: { file.load(isThere: isThere).map(replaced) }
            ).run()
        } catch {
            Handover.fail(error.description)
            throw CommandExit.failure(error.description)
        }
    }
}
