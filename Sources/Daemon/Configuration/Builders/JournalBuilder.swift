import Declaration
import Interception
import Journal
import ProxyCore

/// Builds the journal's settings from `journal`.
enum JournalBuilder {
    /// - Returns: nil if no journal is kept.
    static func settings(_ fields: Fields?, _ settings: Settings, _ findings: Findings) -> JournalStore.Settings? {
        var journal = KeyTable.journal.value(fields)
        journal.disk = fields?.fields("disk").map(KeyTable.journalDisk.value)
        guard journal.memory > 0 else {
            if let place = fields?.position(of: "disk") {
                findings.error(
                    place, "journal.disk has no effect because journal.memory is 0B; give memory 1MiB or more")
            }
            return nil
        }
        journal.sessionCookies = settings.servers.map(\.cookie)
        return journal
    }

    /// The limits of bodies kept until an exchange ends: at most an eighth of the budget for each loop.
    static func capture(_ journal: JournalStore.Settings) -> CaptureLimits {
        CaptureLimits(body: journal.bodies, total: max(journal.bodies, journal.memory / 8))
    }
}
