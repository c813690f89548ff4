import ArgumentParser
import Configuration
import Operation

/// The scripts of a configuration, for commands that run it without a daemon.
enum CommandScripts {
    static func host() -> ScriptHost {
        ScriptHost(say: { Console.error($0) }, tell: { Console.error($0) })
    }

    /// Starts them, or exits with 1 and the reasons why they are not ready. The caller ends the host.
    static func start(_ snapshot: Snapshot) throws -> ScriptHost {
        let host = host()
        let faults = host.start(snapshot.scripts)
        guard !faults.isEmpty else { return host }
        host.end()
        for fault in faults { Console.plain(fault.description) }
        throw ExitCode(1)
    }
}
