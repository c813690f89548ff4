import Configuration
import Control
import Formats

/// The supervisor's configuration for the admin API.
final class ServedConfiguration: ConfigurationInForce {
    private unowned let supervisor: Supervisor

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    var generation: Int { supervisor.configuration.snapshot.generation }
    var file: String { supervisor.configuration.snapshot.file }
    var readAt: Int { supervisor.configuration.snapshot.document.readAt }
    var addresses: [String] { supervisor.listening.map(\.description) }
    var document: JSONValue { supervisor.configuration.snapshot.document.value }
}
