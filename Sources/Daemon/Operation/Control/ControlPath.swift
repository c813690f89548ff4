import Configuration
import Glibc

/// The location of the daemon's control socket.
public enum ControlPath {
    /// The file name in the runtime directory.
    static let name = "admin.sock"
    /// The environment variable that names the socket for commands.
    public static let variable = "USHER_SOCKET"
    /// The runtime directory of the systemd service.
    static let service = "/run/usher"

    /// The daemon's own socket: `admin.socket`; a relative path starts at the runtime directory.
    static func own(_ snapshot: Snapshot, _ environment: [String: String]) -> String {
        path(snapshot.controlSocket ?? name, in: StateDirectory.forRunning(environment))
    }

    private static func path(_ text: String, in folder: StateDirectory) -> String {
        text.hasPrefix("/") ? text : folder.file(text)
    }

    /// The paths where a command looks for a daemon, in order.
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

    /// The socket of a proxy that runs for one command.
    static func ofCommand(_ environment: [String: String]) -> String {
        StateDirectory.forRunning(environment).file("run-\(getpid()).sock")
    }
}
