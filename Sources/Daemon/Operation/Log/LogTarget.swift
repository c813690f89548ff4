import Configuration
import EventLoop
import Observation

/// The log of a process, as configured.
struct ProcessLog {
    let sink: LogSink?
    let detail: LogDetail
    let format: AccessLog.Format

    /// - Parameters:
    ///   - descriptor: standard output; nil if the process writes no log.
    ///   - isDaemon: false to log to the descriptor, whatever the configuration says.
    /// - Throws: a message for a person.
    init(_ settings: LogSettings, stdout descriptor: Int32?, isDaemon: Bool) throws(Supervisor.StartFault) {
        detail = LogDetail(descriptor == nil ? .none : settings.detail)
        format =
            switch settings.access {
            case .json, .none: .json
            case .common: .common
            case .combined: .combined
            }
        guard let descriptor else {
            sink = nil
            return
        }
        let tellsGaps = format == .json
        do throws(SystemError) {
            switch isDaemon ? settings.target : .stdout {
            case .stdout: sink = try LogSink(tellsGaps: tellsGaps) { DescriptorOutput(descriptor) }
            case .file(let path):
                sink = try LogSink(tellsGaps: tellsGaps) { () throws(SystemError) in try FileOutput(path) }
            case .journald: sink = try Self.journal(orElse: descriptor, tellsGaps)
            }
        } catch {
            guard case .file(let path) = settings.target else {
                throw Supervisor.StartFault(description: error.description)
            }
            throw Supervisor.StartFault(
                description:
                    "the log cannot be written to \(path): \(error.reason) (log.to: give its folder to the daemon's "
                    + "user, or name another file)")
        }
    }

    private static func journal(orElse descriptor: Int32, _ tellsGaps: Bool) throws(SystemError) -> LogSink {
        let output: JournalOutput
        do throws(SystemError) { output = try JournalOutput() } catch {
            Console.error(
                "there is no journal at \(JournalOutput.path) (\(error.reason)); the log goes to standard output")
            return try LogSink(tellsGaps: tellsGaps) { DescriptorOutput(descriptor) }
        }
        return try LogSink(frame: .entries) { output }
    }
}
