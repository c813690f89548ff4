import Declaration
import Journal
import ProxyCore

/// Makes what the journal acts by of `journal:`.
enum JournalBuilder {
    /// - Returns: nil where none is kept.
    static func settings(_ fields: Fields?, _ settings: Settings) -> JournalStore.Settings? {
        var journal = JournalStore.Settings()
        if let memory = fields?.number("memory") { journal.memory = memory }
        if let bodies = fields?.number("bodies") { journal.bodies = bodies }
        guard journal.memory > 0 else { return nil }
        journal.secrets = fields?.list("secrets").compactMap(\.text) ?? []
        journal.sessionCookies = settings.servers.map(\.cookie)
        return journal
    }

    /// What loops keep of bodies until an exchange is over: an eighth of the budget on each at most.
    static func capture(_ journal: JournalStore.Settings) -> CaptureLimits {
        CaptureLimits(body: journal.bodies, total: max(journal.bodies, journal.memory / 8))
    }
}
