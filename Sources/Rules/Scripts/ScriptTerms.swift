/// What the configuration says about a script: how it is started, what it is asked, and its limits. Equal terms share processes.
public struct ScriptTerms: Hashable, Sendable {
    public enum Origin: Hashable, Sendable {
        /// A program that Usher starts, with its arguments.
        case run([String])
        /// The path of a Unix socket on which a program of its own listens.
        case connect(String)
    }

    public enum Phase: String, CaseIterable, Hashable, Sendable {
        case request, response
    }

    public enum Needs: String, CaseIterable, Hashable, Sendable {
        case head, body
    }

    /// What becomes of an exchange whose script fails.
    public enum Failure: String, CaseIterable, Hashable, Sendable {
        case refuse, pass
    }

    public var origin: Origin
    public var workers = 1
    /// In milliseconds.
    public var timeout = 2_000
    public var onFailure = Failure.refuse
    public var phases: Set<Phase> = [.request]
    public var needs = Needs.head
    /// The longest wait before a worker that ended is started again, in milliseconds.
    public var restart = 10_000
    /// The private memory of a worker, in bytes; nil for no limit.
    public var memory: Int?
    /// The largest number of questions that wait for one worker.
    public var open = 256
    /// The largest frame in bytes.
    public var frame = 16 << 20
    /// The largest body, in bytes, that goes without a file.
    public var fileAbove = 256 << 10
    /// Variables beside the few that every script gets.
    public var environment: [String: String] = [:]
    /// The user that the script runs as; nil for Usher's own.
    public var user: String?
    /// The folder that it runs in.
    public var folder = ""
    /// The state of the file that each word of the command names, so that a changed file is a changed script; empty for none.
    public var files: [String] = []

    public init(_ origin: Origin) { self.origin = origin }

    /// The program in few words, without arguments that may be secret.
    public var words: String {
        switch origin {
        case .run(let command):
            command.prefix(files.count > 1 && !files[1].isEmpty ? 2 : 1).joined(separator: " ")
        case .connect(let path): "unix:\(path)"
        }
    }
}
