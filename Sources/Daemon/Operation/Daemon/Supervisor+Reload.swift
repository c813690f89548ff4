import Configuration
import Control
import EventLoop
import ProxyDriver

extension Supervisor {
    var generation: Int { configuration.snapshot.generation }

    func reloadBegins() { tell("RELOADING=1\nMONOTONIC_USEC=\(Loop.monotonicMilliseconds() * 1000)") }

    func reloadFailed(_ faults: [ConfigurationRemark]) {
        instruments.reloaded(nil)
        let words = "the configuration was not reloaded; generation \(generation) stays in use"
        for fault in faults { Console.error(fault.line) }
        Console.error(words)
        status.faults.add("\(words): \(faults.first?.line ?? "")")
        tellReady(words)
    }

    /// Puts a configuration into effect.
    /// - Returns: the keys and files that changed, and those that take effect at the next start.
    func adopt(_ settings: SettingsBuilder.Settings, by whom: String) throws(SystemError) -> (
        changed: [String], restart: [String]
    ) {
        let new = configuration.next(settings)
        try stores.keepJournal(new, isAsked: doors.hasSocket)
        let changed = configuration.changes(to: settings)
        for remark in configuration.news(in: settings) { Console.error(remark) }
        configuration.become(new, settings, by: whom)
        instruments.reloaded(new)
        stores.adopt(new)
        var next = settings.workers
        next.journal = stores.journal
        crew.adopt(next)
        stores.testSessions?.adopt(.init(snapshot: new, engine: next.engine))
        stores.forgetLogins(goneFrom: new)
        stores.scripts.keep(new.scripts)
        let words = Self.words(generation: generation, changed)
        Console.error("generation \(generation) of the configuration is in force: \(words)")
        if !configuration.restart.isEmpty { Console.error(Self.restartWords(configuration.restart)) }
        tellReady()
        return (changed, configuration.restart)
    }

    private static func words(generation: Int, _ changed: [String]) -> String {
        changed.isEmpty ? "nothing changed" : "\(changed.joined(separator: ", ")) changed"
    }

    static func restartWords(_ keys: [String]) -> String {
        let list = keys.count < 2 ? keys.joined() : keys.dropLast().joined(separator: ", ") + " and \(keys.last ?? "")"
        return "\(list) \(keys.count == 1 ? "takes" : "take") effect at the next start (or with usher upgrade)"
    }
}
