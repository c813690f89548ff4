import Configuration
import Control
import EventLoop
import Glibc
import ProxyCore
import ProxyDriver
import TLSEngine

/// What the daemon runs by.
struct RunningConfiguration {
    /// When it came into force, in seconds since 1970, and who had it read.
    var since = time(nil)
    var by = "start"
    /// Keys that are another in the file, and take effect at the next start.
    var restart: [String] = []
}

extension Supervisor {
    var generation: Int { snapshot.generation }

    func reloadBegins() { tell("RELOADING=1\nMONOTONIC_USEC=\(Loop.monotonicMilliseconds() * 1000)") }

    func reloadFailed(_ faults: [ConfigurationRemark]) {
        instruments.reloaded(nil)
        let words = "the configuration was not reloaded; generation \(generation) stays"
        for fault in faults { Console.error(fault.line) }
        Console.error(words)
        status.faults.add("\(words): \(faults.first?.line ?? "")")
        tellReady(words)
    }

    /// Puts a configuration in force.
    /// - Returns: the keys and files that changed, and those of them that take effect at the next start.
    func adopt(_ settings: SettingsBuilder.Settings, by whom: String) throws(SystemError) -> (
        changed: [String], restart: [String]
    ) {
        var new = settings.snapshot
        new.generation = generation + 1
        try keepJournal(new, isAsked: control != nil)
        var changed = snapshot.outline.changes(to: new.outline)
        if let old = material?.leaves, let now = settings.workers.tls.leaves,
            old.authority.certificate.der != now.authority.certificate.der,
            !changed.contains("tls.ca")
        {
            changed.append("tls.ca")
        }
        for remark in settings.remarks where !remarks.contains(remark) { Console.error(remark) }
        take(new, settings)
        running = RunningConfiguration(by: whom, restart: started.needingRestart(for: new))
        let words = Self.words(generation: generation, changed)
        Console.error("generation \(generation) of the configuration is in force: \(words)")
        if !running.restart.isEmpty { Console.error(Self.restartWords(running.restart)) }
        tellReady()
        return (changed, running.restart)
    }

    private static func words(generation: Int, _ changed: [String]) -> String {
        changed.isEmpty ? "nothing changed" : "\(changed.joined(separator: ", ")) changed"
    }

    static func restartWords(_ keys: [String]) -> String {
        let list = keys.count < 2 ? keys.joined() : keys.dropLast().joined(separator: ", ") + " and \(keys.last ?? "")"
        return "\(list) \(keys.count == 1 ? "takes" : "take") effect at the next start (usher upgrade is one)"
    }
}
