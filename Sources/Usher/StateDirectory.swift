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
        if access(path, W_OK) == 0 { return self }
        if let first = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first {
            return StateDirectory(path: Self.absolute(String(first)))
        }
        guard let base = environment["XDG_RUNTIME_DIR"], base.hasPrefix("/") else { return self }
        return StateDirectory(path: Self.absolute("\(base)/usher"))
    }

    /// Where systemd has the service keep its state.
    public static let service = "/var/lib/usher"

    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes the folder, readable by its owner alone, where it is missing.
    /// - Throws: `FileTrouble` where it cannot be made, is no folder, or may be changed by everybody.
    public func make() throws(FileTrouble) {
        var status = stat()
        if stat(path, &status) != 0 {
            guard errno == ENOENT else { throw trouble("entered") }
            try makeParents()
            // another process may be quicker
            guard mkdir(path, 0o700) == 0 || errno == EEXIST, stat(path, &status) == 0 else { throw trouble("made") }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileTrouble("\(path) is no folder; set STATE_DIRECTORY") }
        guard status.st_mode & S_IWOTH == 0 else {
            throw FileTrouble("everybody may change what is in \(path), and so the CA (chmod 700 \(path))")
        }
    }

    private func makeParents() throws(FileTrouble) {
        var parent = ""
        for part in path.split(separator: "/").dropLast() {
            parent += "/\(part)"
            guard mkdir(parent, 0o700) == 0 || errno == EEXIST || access(parent, F_OK) == 0 else {
                throw trouble("made")
            }
        }
    }

    private func trouble(_ deed: String) -> FileTrouble {
        FileTrouble(path, cannotBe: deed, remedy: "set STATE_DIRECTORY to a folder that usher may write to")
    }

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
