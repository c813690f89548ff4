import Configuration
import EventLoop
import ProxyDriver

enum ControlPlace: Sendable {
    /// As configured.
    case own
    case at(String)
}

/// The differences between the daemon and a proxy inside another command.
struct ServeOptions: Sendable {
    /// True to handle signals, and to take sockets from the service manager and report to it and to the terminal.
    var isDaemon = true
    /// The descriptor of the access log; nil for none.
    var log: Int32? = 1
    /// Replaces the log. Called once for each worker, on its thread.
    var recorder: (@Sendable () -> any Recorder)?
    /// The longest wait for active exchanges at the end, in milliseconds; nil for the workers' own limit.
    var drainLimit: Int?
    /// The control socket.
    var control = ControlPlace.own
    /// A message ends the proxy like SIGTERM.
    var ending: Mailbox<Void>?
    /// Called when all exchanges have ended. The admin API stays available until another message in `ending`.
    var drained: (@Sendable () -> Void)?
    /// Receives the counts of the only worker.
    var tally: Locked<RunTally>?
    /// The system's authorities, read in advance.
    var trust: TrustAhead?
    /// Loads the configuration again; nil if it never changes.
    var reload: Reloader.Load?
    /// Loads the overlays of test sessions.
    var overlays: TestSessions.Loading = { OverlayLoader($0, variables: $1) }
    /// Called when every listener is open.
    var ready: @Sendable ([ListeningAddress]) -> Void = { _ in }
}
