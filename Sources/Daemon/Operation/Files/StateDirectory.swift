import Glibc

/// The folder for persistent data: the CA's key and certificates, the bundles made of them, and stored state.
public struct StateDirectory: Equatable, Sendable {
    /// Absolute, without a trailing slash.
    public let path: String

    public init(path: String) { self.path = path }

    /// `$STATE_DIRECTORY` (the first of a list, systemd.exec(5)), else `$XDG_STATE_HOME/usher`, else `~/.local/state/usher`. For
    /// a user without a home directory, the service's folder.
    public init(_ environment: [String: String]) {
        if let first = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
            path = Self.absolute(String(first))
        } else if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") {
            // the XDG Base Directory Specification ignores relative paths
            path = Self.absolute("\(base)/usher")
        } else if let home = Self.home(environment) {
            path = Self.absolute("\(home)/.local/state/usher")
        } else {
            path = Self.service
        }
    }

    /// The folder for files that can be generated again: this folder, or if it is not writable, `$RUNTIME_DIRECTORY`, else
    /// `$XDG_RUNTIME_DIR/usher`.
    public func forBundles(_ environment: [String: String]) -> StateDirectory {
        access(path, W_OK) == 0 ? self : Self.runtime(environment) ?? self
    }

    /// The folder for files of a running daemon: `$RUNTIME_DIRECTORY`, else `$XDG_RUNTIME_DIR/usher`; nil without either.
    private static func runtime(_ environment: [String: String]) -> StateDirectory? {
        if let first = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first {
            return StateDirectory(path: absolute(String(first)))
        }
        guard let base = environment["XDG_RUNTIME_DIR"], base.hasPrefix("/") else { return nil }
        return StateDirectory(path: absolute("\(base)/usher"))
    }

    /// The runtime folder, or the state directory if there is none.
    static func forRunning(_ environment: [String: String]) -> StateDirectory {
        runtime(environment) ?? StateDirectory(environment)
    }

    /// The state directory of the systemd service.
    public static let service = "/var/lib/usher"

    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// - Throws: `FileError` if it cannot be entered, or if others than its owner may change its contents.
    func exists() throws(FileError) -> Bool {
        guard let folder = try OpenFolder.at(path) else { return false }
        try folder.mustBePrivate()
        return true
    }

    /// Creates the folder if it is missing, readable by its owner only.
    /// - Throws: `FileError` if it cannot be created, is no folder, or may be changed by others.
    public func make() throws(FileError) {
        try OpenFolder.at(path, makes: true)?.mustBePrivate()
    }

    /// - Throws: `FileError` if others may replace the folder.
    func mustKeepItsPlace() throws(FileError) { try OpenFolder.at(path)?.mustKeepItsPlace() }

    private static func absolute(_ path: String) -> String {
        var path = path
        if !path.hasPrefix("/"), let current = getcwd(nil, 0) {
            path = "\(String(cString: current))/\(path)"
            free(current)
        }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    private static func home(_ environment: [String: String]) -> String? {
        if let home = environment["HOME"], home.hasPrefix("/") { return home }
        guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return nil }
        let home = String(cString: folder)
        return home.hasPrefix("/") ? home : nil
    }
}
