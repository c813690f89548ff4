import Configuration
import EventLoop
import Glibc

/// Where the daemon's control socket is.
public enum ControlPath {
    /// Its name in the runtime directory.
    static let name = "admin.sock"
    /// The variable that names it for commands.
    public static let variable = "USHER_SOCKET"
    /// Where systemd has the service keep what is there while it runs.
    static let service = "/run/usher"

    /// The daemon's own: `admin.socket` of the configuration, a relative path from the runtime directory on.
    static func own(_ snapshot: Snapshot, _ environment: [String: String]) -> String {
        path(snapshot.controlSocket ?? name, in: StateDirectory.forRunning(environment))
    }

    private static func path(_ text: String, in folder: StateDirectory) -> String {
        text.hasPrefix("/") ? text : folder.file(text)
    }

    /// Where a command looks for a daemon, in that order.
    /// - Parameter configured: `admin.socket`.
    public static func candidates(
        given: String?, _ configured: String?, _ environment: [String: String]
    ) -> [String] {
        if let given { return [given] }
        if let named = environment[variable], !named.isEmpty { return [named] }
        let name = configured ?? name
        if name.hasPrefix("/") { return [name] }
        var folders = [StateDirectory.forRunning(environment), StateDirectory(environment)]
        folders.append(StateDirectory(path: service))
        var paths: [String] = []
        for folder in folders where !paths.contains(folder.file(name)) { paths.append(folder.file(name)) }
        return paths
    }

    /// A proxy that lives with one command has a socket of its own.
    static func ofCommand(_ environment: [String: String]) -> String {
        StateDirectory.forRunning(environment).file("run-\(getpid()).sock")
    }
}
