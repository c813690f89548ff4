import EventLoop
import ProxyDriver

enum ControlPlace: Sendable {
    /// As the configuration says.
    case own
    case at(String)
}

/// In what a proxy inside another command differs from the daemon.
struct ServeOptions: Sendable {
    /// Hears signals, takes sockets from the service manager and tells it, and whoever started it, how things stand.
    var isDaemon = true
    /// Where the access log goes; nil for nowhere.
    var log: Int32? = 1
    /// Takes the records in place of the log. Called once for each worker, on its thread.
    var recorder: (@Sendable () -> any Recorder)?
    /// How long the end waits for exchanges under way, in milliseconds; nil for what workers do by themselves.
    var drainLimit: Int?
    /// Where it is spoken to while it runs.
    var control = ControlPlace.own
    /// A message in it ends the proxy as SIGTERM would.
    var ending: Mailbox<Void>?
    /// Called when nothing goes through any more. Questions are answered until another message comes in `ending`.
    var drained: (@Sendable () -> Void)?
    /// Takes the counts of the one worker that there is.
    var tally: Locked<RunTally>?
    /// What was begun to be read before.
    var trust: TrustAhead?
    /// Reads the configuration anew; nil where it stays as it is.
    var reload: Reloader.Load?
    /// Called when every listener is open.
    var ready: @Sendable ([ListeningAddress]) -> Void = { _ in }
}
