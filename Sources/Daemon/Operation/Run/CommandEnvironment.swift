public import Configuration

/// The environment of a command that runs with a proxy: all variables except those that the configuration uses, such as the
/// robot's password.
public struct CommandEnvironment: Sendable {
    public let variables: [String: String]
    /// The names of the withheld variables, sorted.
    public let withheld: [String]

    /// Variables that programs need and that hold no secrets.
    private static let everybodys: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "LANG", "TZ", "TMPDIR", "HOSTNAME",
    ]

    /// - Parameter passing: names that the user asked to pass.
    public init(_ environment: [String: String], for snapshot: Snapshot, passing: [String]) {
        let kept = Self.everybodys.union(passing)
        withheld = snapshot.variables.filter { environment[$0] != nil && !kept.contains($0) }.sorted()
        variables = environment.filter { [withheld] in !withheld.contains($0.key) }
    }
}
