import Glibc

/// The person's editor.
public enum Editor {
    /// Opens a file in the editor of VISUAL or EDITOR, else vi, and waits for its end.
    /// - Throws: `CommandRun.Fault` if there is no such editor, or with its status.
    public static func open(_ path: String) throws(CommandRun.Fault) {
        signal(SIGCHLD, SIG_DFL)
        let variables = ProcessEnvironment.all
        let editor = variables["VISUAL"] ?? variables["EDITOR"] ?? "vi"
        let signals = WaitedSignals()
        defer { signals.restore() }
        let child = try ChildProcess(
            editor.split(separator: " ").map(String.init) + [path], environment: variables, signals: signals.before,
            files: ChildProcess.fileLimit, turnsOutputToError: false)
        let status = child.wait(signals)
        guard status == 0 else {
            throw CommandRun.Fault(description: "\(editor) ended with status \(status)", status: status)
        }
    }
}
