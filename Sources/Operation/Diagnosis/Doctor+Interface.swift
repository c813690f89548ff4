import Configuration
import Glibc

/// Checks whether this user has access to the daemon's control socket.
extension Doctor {
    func interface() -> [Finding] {
        var findings: [Finding] = []
        if let group = snapshot.controlGroup, getgrnam(group) == nil {
            findings.append(
                Finding(
                    .problem, "admin.group names \(group), which is not a group on this machine",
                    remedy: "addgroup --system \(group)"))
        }
        do throws(ControlClient.Fault) {
            if let url = try ControlURL(environment) { return try findings + [distant(url)] }
        } catch {
            return findings + [Finding(.problem, error.description)]
        }
        let places = ControlPath.candidates(given: nil, snapshot.controlSocket, environment)
        if let path = places.first(where: Self.isForbidden) {
            findings.append(
                Finding(
                    .problem, "this user may not open the daemon's control socket \(path)",
                    remedy: SocketAccess.remedy(for: path, user: environment["USER"])))
        }
        return findings
    }

    private func distant(_ url: ControlURL) throws(ControlClient.Fault) -> Finding {
        switch try ControlClient(url).ask("GET", "/v1/status") {
        case .done: Finding(.ok, "commands use the daemon at \(url.shown) because of \(ControlURL.variable)")
        case .refused(_, let words): Finding(.problem, "\(url.shown) answers: \(words)")
        }
    }

    private static func isForbidden(_ path: String) -> Bool { access(path, R_OK | W_OK) != 0 && errno == EACCES }
}
