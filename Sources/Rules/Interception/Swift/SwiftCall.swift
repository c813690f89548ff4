public import Interceptors
internal import Scripts

/// One call of a Swift interceptor, with its input.
public struct SwiftCall: Sendable {
    enum Message: Sendable {
        case request(Request)
        case response(Response, to: Request)
    }

    /// The interceptor in the configuration.
    public let interceptor: String
    let edit: SwiftEdit
    let action: Interceptors.Action
    let message: Message

    /// The longest duration, in milliseconds.
    public var deadline: Int { edit.deadline }
    /// A description of the interceptor for messages.
    public var words: String {
        edit.script == nil ? "interceptor \(interceptor) (swift: \(edit.registered))" : "the script of \(interceptor)"
    }

    /// Whether the message goes on unchanged where the result cannot be applied.
    var passes: Bool { edit.script?.terms.onFailure == .pass }

    /// The result of an interceptor that runs on the loop; nil for one that runs off it.
    func now() -> SwiftAnswer? {
        do {
            switch (edit.form, message) {
            case (.request(let code), .request(let request)):
                return .request(try code.intercept(request: request, action: action))
            case (.response(let code), .response(let response, let request)):
                return .response(try code.intercept(response: response, request: request, action: action))
            default: return nil
            }
        } catch {
            return SwiftAnswer(error)
        }
    }

    /// Asks a script.
    /// - Parameter done: called once, on any thread.
    /// - Returns: false if the interceptor is not a script.
    public func ask(_ done: @escaping @Sendable (SwiftAnswer) -> Void) -> Bool {
        guard let script = edit.script else { return false }
        let question: ScriptQuestion.Message =
            switch message {
            case .request(let request): .request(request)
            case .response(let response, let request): .response(response, to: request)
            }
        script.ask(ScriptQuestion(interceptor: interceptor, action: action, message: question)) { answer in
            done(SwiftAnswer(answer, to: question, script.terms.onFailure))
        }
        return true
    }

    /// Counts an answer of a script that could not be applied. Other failures are counted already.
    func noteUnfit(_ answer: SwiftAnswer) {
        switch answer {
        case .request, .response, .verdict: edit.script?.noteUnfit()
        case .failed, .passed: break
        }
    }

    /// The result of an interceptor that runs off the loop.
    /// - Parameter repeated: called if the interceptor completes more than once.
    public func answer(repeated: @escaping @Sendable () -> Void) async -> SwiftAnswer {
        if edit.script != nil {
            return (try? await withCompletion { done in _ = ask { done($0) } }) ?? .failed("was given up")
        }
        return await CompletionReport.$current.withValue(CompletionReport(repeated: repeated)) {
            do {
                switch (edit.form, message) {
                case (.asyncRequest(let code), .request(let request)):
                    return .request(try await code.intercept(request: request, action: action))
                case (.asyncResponse(let code), .response(let response, let request)):
                    return .response(
                        try await code.intercept(response: response, request: request, action: action))
                default: return .failed("works on another kind of message")
                }
            } catch {
                return SwiftAnswer(error)
            }
        }
    }
}

/// The result of a Swift interceptor.
public enum SwiftAnswer: Sendable {
    case request(Request)
    case response(Response)
    case verdict(Interceptors.Verdict)
    /// Words that follow the interceptor's name.
    case failed(String)
    /// The same words, where the message goes on unchanged.
    case passed(String)

    init(_ answer: ScriptAnswer, to question: ScriptQuestion.Message, _ failure: ScriptTerms.Failure) {
        switch (answer, question) {
        case (.unchanged, .request(let request)), (.request(let request), _): self = .request(request)
        case (.unchanged, .response(let response, _)), (.response(let response), _): self = .response(response)
        case (.verdict(let verdict), _): self = .verdict(verdict)
        case (.failed(let words), _): self = failure == .pass ? .passed(words) : .failed(words)
        }
    }

    init(_ error: any Error) {
        if let verdict = error as? Interceptors.Verdict {
            self = .verdict(verdict)
        } else {
            let words = String(describing: error).unicodeScalars.prefix(Self.mostWords)
            // third-party text: a log line must stay one line
            let plain = words.map { $0.value < 0x20 || $0.value == 0x7F ? " " : String($0) }
            self = .failed("threw \(plain.joined())")
        }
    }

    private static let mostWords = 200
}
