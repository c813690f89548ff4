import Glibc

/// The person's browser.
public enum Browser {
    /// The file that leads the browser to the link, in the folder for files of a running daemon.
    private static let file = "page.html"

    /// Opens a link, if this user has a desktop. Other users see the arguments of programs, so a private file leads to it.
    /// - Parameter url: without characters that HTML escapes.
    /// - Returns: the reason if it cannot be opened.
    public static func open(_ url: String, _ variables: [String: String]) -> String? {
        guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { variables[$0]?.isEmpty == false }) else { return nil }
        let folder = StateDirectory.forRunning(variables)
        do throws(FileError) {
            try folder.make()
            guard let place = try OpenFolder.at(folder.path) else { return "no browser was opened: no \(folder.path)" }
            place.remove(file)
            let page = try place.newFile(file, mode: 0o600)
            let text = "<!doctype html><title>Usher</title><meta http-equiv=refresh content=\"0;url=\(url)\">\n"
            guard Array(text.utf8).withUnsafeBytes({ DescriptorBytes.write($0, to: page) }) else {
                throw FileError(folder.file(file), cannotBe: "written")
            }
        } catch {
            return "no browser was opened: \(error.description)"
        }
        signal(SIGCHLD, SIG_DFL)
        let signals = WaitedSignals()
        defer { signals.restore() }
        do throws(CommandRun.Fault) {
            let child = try ChildProcess(
                ["xdg-open", folder.file(file)], environment: variables, signals: signals.before,
                files: ChildProcess.fileLimit,
                turnsOutputToError: true)
            let status = child.wait(signals)
            return status == 0 ? nil : "xdg-open ended with status \(status); open the link yourself"
        } catch {
            return "no browser was opened: \(error.description)"
        }
    }
}
