import Configuration
public import Control
import Formats
import Interception
import Journal
import Metrics
import ProxyCore
public import ProxyDriver

extension TransactionTable: TransactionDirectory {}
extension LoginTable: LockoutDirectory {}

extension Supervisor {
    /// The routes of the admin API.
    var router: ControlRouter {
        let feed = TransactionFeed(loop, stores.tables.transactions)
        var routes =
            HealthRoutes { [unowned self] in phase }.all + MetricsRoutes { [unowned self] in metrics }.all
            + TransactionRoutes(stores.tables.transactions, follow: feed.follow).all
            + LockoutRoutes(stores.tables.logins).all + TestSessionRoutes { [unowned self] in stores.testSessions }.all
        routes += ConfigurationRoutes { [unowned self] in shownConfiguration }.all + LogRoutes(ServedLog(self)).all
        routes +=
            FlowRoutes(FlowDesk(self), recordings: stores.recordings).all
            + JourneyRoutes(FlowDesk(self)).all
        routes += page.all + RateRoutes { [unowned self] in instruments.shownRates }.all + CatalogueRoutes().all
        routes +=
            ExplainRoutes { [unowned self] in
                ExplanationDesk.explain($0, $1, configuration.snapshot, $2)
            }.all
        if options.isDaemon { routes += LifeRoutes(SupervisorLife(self)).all + ReloadRoutes(SupervisorLife(self)).all }
        return ControlRouter(routes)
    }
}

extension Supervisor {
    private var page: PageRoutes {
        PageRoutes(
            PageFolder.files,
            link: { [unowned self] port, request throws(ControlProblem) in
                try doors.page.link(
                    port, of: self, doors.router(of: self), isOwner: request.isOwner, now: request.now)
            }, token: { [unowned self] in doors.page.token(for: $0, now: $1) })
    }
}

/// Requests about the journal.
extension Supervisor {
    var keepsFlows: Bool { stores.journal != nil && configuration.snapshot.journal != nil }
    var secrets: SecretSource? { configuration.snapshot.journal?.reveals == true ? stores.journal?.secrets : nil }
    var environments: Environments { configuration.snapshot.settings.environments }
    /// A listening address for clients without TLS, used for replays.
    var replayAddress: ListeningAddress? { listening.first { !$0.isSecure } }
}

extension Supervisor {
    private var metrics: [UInt8] {
        var figures = ProcessFigures()
        figures.generation = generation
        figures.transactionsWaiting = stores.tables.transactions.list().count
        figures.journal = stores.journal?.figures
        figures.scripts = ScriptFigures.inForce(stores.scripts.report)
        return instruments.page(figures)
    }

    private var shownConfiguration: JSONValue {
        let snapshot = configuration.snapshot
        return [
            "generation": .integer(snapshot.generation), "file": .string(snapshot.file),
            "loaded": .string(CalendarTime(snapshot.document.readAt).internet),
            "listening": .array(listening.map { .string($0.description) }), "configuration": snapshot.document.value,
        ]
    }
}
