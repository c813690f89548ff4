import Glibc

/// The person's browser.
public enum Browser {
    /// Opens a page, if this user has a desktop.
    /// - Returns: the reason if it cannot be opened.
    public static func open(_ url: String, _ variables: [String: String]) -> String? {
        guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { variables[$0]?.isEmpty == false }) else { return nil }
        signal(SIGCHLD, SIG_DFL)
        let signals = WaitedSignals()
        defer { signals.restore() }
        do throws(CommandRun.Fault) {
            let child = try ChildProcess(
                ["xdg-open", url], environment: variables, signals: signals.before, files: ChildProcess.fileLimit,
                turnsOutputToError: true)
            let status = child.wait(signals)
            return status == 0 ? nil : "xdg-open ended with status \(status); open the link yourself"
        } catch {
            return "no browser was opened: \(error.description)"
        }
    }
}
