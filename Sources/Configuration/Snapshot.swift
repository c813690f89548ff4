public import Journal
public import ProxyCore
public import TLSEngine

/// A whole configuration, checked and ready: a value that no one changes once the daemon runs by it. A reload makes
/// another one.
public struct Snapshot: Sendable {
    /// Counts the configurations of one run of the daemon, from 1.
    public var generation: Int
    /// The file that it came from, as it was given.
    public var file: String
    public var listeners: [Listener]
    /// Event loops; nil for one per core.
    public var workers: Int?
    /// What one session acts by.
    public var settings: Settings
    public var clients: ClientPolicy
    public var destinations: DestinationPolicy
    public var tls: TLSSettings
    /// `names.servers`, each with its port; none for those of the system.
    public var nameServers: [String]
    public var log: LogSettings
    /// Nil where no journal is kept.
    public var journal: JournalStore.Settings?
    /// `tracing:`; nil where no traces are exported.
    public var tracing: TracingSettings?
    /// `admin.socket`: a path, from the runtime directory on where it does not begin with a slash; nil where nobody says.
    public var controlSocket: String?
    /// `admin.group`; nil where the socket's group is that of the process.
    public var controlGroup: String?
    /// `admin.listen` and `admin.token`; nil where the control interface has no port.
    public var admin: AdminPort?
    /// `state.key`; nil where it is made in the state directory.
    public var stateKey: SecretBytes?
    /// What is likely not meant but harms nothing.
    public var warnings: [Diagnostic]
    /// The environment's variables that it was made with: `${env.NAME}`, and the folder of credentials.
    public var variables: Set<String> = []
    /// What it says, to be compared with another's.
    public var outline = ConfigurationOutline()
    /// What it says, for whoever asks the daemon.
    public var document = EffectiveDocument()
}

/// Where the control interface is answered over TCP, and what who asks has to show.
public struct AdminPort: Sendable {
    public var listener: Listener
    public var token: SecretBytes
}

/// `log:` of the configuration.
public struct LogSettings: Equatable, Sendable {
    public enum Access: String, CaseIterable, Sendable { case json, common, combined, none }
    /// From few words to many.
    public enum Level: String, CaseIterable, Sendable { case error, warning, info, debug }

    /// Where it goes.
    public enum Target: Equatable, Sendable {
        case stdout
        /// systemd's journal.
        case journald
        case file(String)

        /// - Parameter text: one of the words, or a path from the root on.
        public init?(_ text: String) {
            switch text {
            case "stdout": self = .stdout
            case "journald": self = .journald
            default:
                guard text.hasPrefix("/"), !text.hasSuffix("/"), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
                else { return nil }
                self = .file(text)
            }
        }
    }

    public var access = Access.json
    public var level = Level.info
    public var target = Target.stdout

    public init() {}
}

/// `tracing:` of the configuration.
public struct TracingSettings: Equatable, Sendable {
    /// The URL that batches of spans are posted to.
    public var endpoint: String
    public var service: String
}

extension Snapshot {
    /// `127.0.0.1:3128` and `[::1]:3128`.
    public static let defaultListeners = ["127.0.0.1:3128", "[::1]:3128"].compactMap { Listener($0) }
}
