public import Expectations
internal import Interception
public import Journal
public import ProxyCore
public import Scripts
public import TLSEngine

/// A complete, checked configuration. It is immutable; a reload creates another snapshot.
public struct Snapshot: Sendable {
    /// Counts the configurations of one run of the daemon, from 1.
    public var generation: Int
    /// The configuration file, as it was passed in.
    public var file: String
    public var listeners: [Listener]
    /// The number of event loops; nil for one per core.
    public var workers: Int?
    /// The settings of connections and exchanges.
    public var settings: Settings
    public var clients: ClientPolicy
    public var destinations: DestinationPolicy
    public var tls: TLSSettings
    /// `names.servers`, each with its port; empty for the system's servers.
    public var nameServers: [String]
    public var log: LogSettings
    /// Nil if no journal is kept.
    public var journal: JournalStore.Settings?
    /// `expect`.
    public var expectations: [Expectation]
    /// Test users for test sessions.
    public var robots: [Robot]
    /// `tracing`; nil if no traces are exported.
    public var tracing: TracingSettings?
    /// `admin.socket`; a relative path starts at the runtime directory. Nil if it is not set.
    public var controlSocket: String?
    /// `admin.group`; nil for the group of the process.
    public var controlGroup: String?
    /// `admin.listen` and `admin.token`; nil if the admin API has no TCP port.
    public var admin: AdminPort?
    /// `state.key`; nil if the key is generated in the state directory.
    public var stateKey: SecretBytes?
    /// Findings that are not errors.
    public var warnings: [Diagnostic]
    /// The environment variables that were used: those of `${env.NAME}`, and the credentials directory.
    public var variables: Set<String> = []
    /// Digests of its keys, for comparison with another snapshot.
    public var outline = ConfigurationOutline()
    /// The effective configuration for display.
    public var document = EffectiveDocument()
}

/// The TCP address of the admin API, and its token.
public struct AdminPort: Sendable {
    public var listener: Listener
    public var token: SecretBytes
}

/// The settings of `log`.
public struct LogSettings: Equatable, Sendable {
    public enum Access: String, CaseIterable, Sendable { case json, common, combined, none }
    /// In increasing order of detail.
    public enum Level: String, CaseIterable, Sendable { case error, warning, info, debug }

    /// The destination of the log.
    public enum Target: Equatable, Sendable {
        case stdout
        /// The systemd journal.
        case journald
        case file(String)

        /// - Parameter text: one of the words, or an absolute path.
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

/// The settings of `tracing`.
public struct TracingSettings: Equatable, Sendable {
    /// The URL that receives batches of spans.
    public var endpoint: String
    public var service: String
}

extension Snapshot {
    /// The scripts of the interceptors.
    public var scripts: [ScriptLine] {
        var lines: [ScriptLine] = []
        for line in settings.rules.flatMap(\.scripts) where !lines.contains(where: { $0 === line }) {
            lines.append(line)
        }
        return lines
    }

    /// `127.0.0.1:3128` and `[::1]:3128`.
    public static let defaultListeners = ["127.0.0.1:3128", "[::1]:3128"].compactMap { Listener($0) }
}
