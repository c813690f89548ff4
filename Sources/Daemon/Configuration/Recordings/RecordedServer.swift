internal import Declaration
internal import Formats
internal import Glibc
internal import Interceptors
internal import Recordings
internal import Synchronization
internal import TLSEngine

/// Answers requests from a recording.
final class RecordedServer: RequestInterceptor {
    let wantsBody = true
    private let replay: Mutex<Replay>
    private let passesMisses: Bool

    init(_ replay: Replay, passesMisses: Bool) {
        self.replay = Mutex(replay)
        self.passesMisses = passesMisses
    }

    func intercept(request: Request, action: Action) throws -> Request {
        let fields = request.headers.fields.map { ($0.name, $0.value) }
        let question = Replay.Request(
            method: request.method, url: request.url,
            message: RecordedMessage(fields: fields, body: request.body ?? []))
        var response = Response()
        do throws(Replay.Miss) {
            let answer = try replay.withLock { replay throws(Replay.Miss) in try replay.answer(question, now: time(nil))
            }
            response.status = answer.status
            response.headers = Headers(answer.message.fields.map { Headers.Field($0.name, $0.value) })
            response.body = answer.message.body
        } catch {
            if passesMisses { return request }
            response.status = 501
            response.headers = ["Content-Type": "application/json"]
            response.body = Array(error.json.written.utf8)
        }
        throw Verdict.respond(response)
    }
}

extension MaterialReader {
    /// Begins answers from the folder of a recording; nil if it cannot be read. Errors are recorded as findings.
    /// - Parameter mode: the name of a `ReplayMode`.
    func recording(_ folder: Decoded, _ mode: String) -> (@Sendable () -> any RequestInterceptor)? {
        guard let name = folder.text, let mode = ReplayMode(rawValue: mode) else { return nil }
        let read = RecordingReader.load(secrets.file("the folder", name, folder).path) { path throws(FileFault) in
            try secrets.readFile(path)
        }
        switch read {
        case .failure(let faults):
            for fault in faults.diagnostics {
                let place = "\(fault.file):\(fault.line):\(fault.column)"
                findings.error(
                    folder.position, "the recording is invalid: \(place): \(fault.message)", nearest: fault.nearest)
            }
            return nil
        case .success(let recording):
            do throws(MaterialFault) {
                let replay = Replay(recording, mode, key: try TestKey())
                return { RecordedServer(replay, passesMisses: mode == .spy) }
            } catch {
                findings.error(folder.position, "the test key of the recording \(error.words)")
                return nil
            }
        }
    }
}
