import Glibc

/// The folder of what must outlive the daemon: the authority's key and certificates, and the bundles made of them.
public struct StateDirectory: Equatable, Sendable {
    /// Absolute, without a slash at its end.
    public let path: String

    public init(path: String) { self.path = path }

    /// `$STATE_DIRECTORY` (the first of a list, systemd.exec(5)), else `$XDG_STATE_HOME/usher`, else
    /// `~/.local/state/usher`. For a user without a home it is the service's own.
    public init(_ environment: [String: String]) {
        if let first = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
            path = Self.absolute(String(first))
        } else if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") {
            // a relative one counts as none, says the XDG Base Directory Specification
            path = Self.absolute("\(base)/usher")
        } else if let home = Self.home(environment) {
            path = Self.absolute("\(home)/.local/state/usher")
        } else {
            path = Self.service
        }
    }

    /// Where what can be made anew is put: this folder, or, where nobody may write to it, `$RUNTIME_DIRECTORY`, else
    /// `$XDG_RUNTIME_DIR/usher`.
    public func forBundles(_ environment: [String: String]) -> StateDirectory {
        access(path, W_OK) == 0 ? self : Self.runtime(environment) ?? self
    }

    /// Where what lives as long as a daemon is put: `$RUNTIME_DIRECTORY`, else `$XDG_RUNTIME_DIR/usher`; nil without either.
    private static func runtime(_ environment: [String: String]) -> StateDirectory? {
        if let first = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first {
            return StateDirectory(path: absolute(String(first)))
        }
        guard let base = environment["XDG_RUNTIME_DIR"], base.hasPrefix("/") else { return nil }
        return StateDirectory(path: absolute("\(base)/usher"))
    }

    /// The same, and the state directory without either.
    static func forRunning(_ environment: [String: String]) -> StateDirectory {
        runtime(environment) ?? StateDirectory(environment)
    }

    /// Where systemd has the service keep its state.
    public static let service = "/var/lib/usher"

    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// - Throws: `FileError` where it cannot be entered, or others than its owner may change what is in it.
    func exists() throws(FileError) -> Bool {
        guard let folder = try OpenFolder.at(path) else { return false }
        try folder.mustBePrivate()
        return true
    }

    /// Makes the folder, readable by its owner alone, where it is missing.
    /// - Throws: `FileError` where it cannot be made, is no folder, or may be changed by others.
    public func make() throws(FileError) {
        try OpenFolder.at(path, makes: true)?.mustBePrivate()
    }

    /// - Throws: `FileError` where others may put another in its place.
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
