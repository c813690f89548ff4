import Authorization
import Configuration
public import Control
import EventLoop
import Journal
import Metrics
import ProxyCore
public import ProxyDriver

extension TransactionTable: TransactionDirectory {}
extension LoginTable: LockoutDirectory {}
extension Supervisor: ServicePhases {}

extension Supervisor {
    /// The routes of the admin API.
    var router: ControlRouter {
        var routes =
            HealthRoutes(self).all + MetricsRoutes(self).all + TransactionRoutes(stores.tables.transactions).all
            + LockoutRoutes(stores.tables.logins).all
        routes += ConfigurationRoutes(ServedConfiguration(self)).all + LogRoutes(ServedLog(self)).all
        routes += FlowRoutes(FlowDesk(self)).all + JourneyRoutes(FlowDesk(self)).all
        if options.isDaemon { routes += LifeRoutes(SupervisorLife(self)).all + ReloadRoutes(SupervisorLife(self)).all }
        return ControlRouter(routes)
    }
}

/// Requests about the journal.
extension Supervisor {
    var keepsFlows: Bool { stores.journal != nil && configuration.snapshot.journal != nil }
    var secrets: (any SecretKeeper)? { configuration.snapshot.journal?.reveals == true ? stores.journal?.secrets : nil }
    /// A listening address for clients without TLS, used for replays.
    var replayAddress: ListeningAddress? { listening.first { !$0.isSecure } }
}

extension Supervisor: MetricsSource {
    public var metrics: (text: [UInt8], type: String) {
        var figures = ProcessFigures()
        figures.generation = generation
        figures.transactionsWaiting = stores.tables.transactions.list().count
        figures.journal = stores.journal?.figures
        return (instruments.page(figures), MetricsRoutes.mediaType)
    }
}
