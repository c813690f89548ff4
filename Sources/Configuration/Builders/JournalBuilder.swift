import Declaration
import Interception
import Journal
import ProxyCore

/// Builds the journal's settings from `journal`.
enum JournalBuilder {
    /// - Returns: nil if no journal is kept.
    static func settings(_ fields: Fields?, _ settings: Settings, _ findings: Findings) -> JournalStore.Settings? {
        var journal = JournalStore.Settings()
        if let memory = fields?.number("memory") { journal.memory = memory }
        if let bodies = fields?.number("bodies") { journal.bodies = bodies }
        journal.disk = fields?.fields("disk").map(disk)
        guard journal.memory > 0 else {
            if let place = fields?.position(of: "disk") {
                findings.error(
                    place, "journal.disk has no effect because journal.memory is 0B; give memory 1MiB or more")
            }
            return nil
        }
        journal.reveals = fields?.flag("reveal") ?? false
        journal.secrets = fields?.list("secrets").compactMap(\.text) ?? []
        journal.sessionCookies = settings.servers.map(\.cookie)
        return journal
    }

    private static func disk(_ fields: Fields) -> JournalStore.DiskLimits {
        var limits = JournalStore.DiskLimits()
        if let size = fields.number("size") { limits.size = size }
        if let age = fields.number("age") { limits.age = age }
        return limits
    }

    /// The limits of bodies kept until an exchange ends: at most an eighth of the budget for each loop.
    static func capture(_ journal: JournalStore.Settings) -> CaptureLimits {
        CaptureLimits(body: journal.bodies, total: max(journal.bodies, journal.memory / 8))
    }
}
