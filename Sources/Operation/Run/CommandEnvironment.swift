public import Configuration

/// What a command that runs behind a proxy gets of this process's environment: everything but what the configuration was
/// made with, which is the robot's password above all.
public struct CommandEnvironment: Sendable {
    public let variables: [String: String]
    /// The names of what the command does not get, sorted.
    public let withheld: [String]

    /// What programs cannot do without, and no secret is kept in.
    private static let everybodys: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "LANG", "TZ", "TMPDIR", "HOSTNAME",
    ]

    /// - Parameter passing: names that were asked for.
    public init(_ environment: [String: String], for snapshot: Snapshot, passing: [String]) {
        let kept = Self.everybodys.union(passing)
        withheld = snapshot.variables.filter { environment[$0] != nil && !kept.contains($0) }.sorted()
        variables = environment.filter { [withheld] in !withheld.contains($0.key) }
    }
}
