public import Interceptors

/// One run of an interceptor that is written in Swift, with what it is given.
public struct SwiftCall: Sendable {
    enum Message: Sendable {
        case request(Request)
        case response(Response, to: Request)
    }

    /// The interceptor of the configuration that names it.
    public let interceptor: String
    let edit: SwiftEdit
    let action: Interceptors.Action
    let message: Message

    /// How long it may take, in milliseconds.
    public var deadline: Int { edit.deadline }
    /// Who works, for messages.
    public var words: String { "interceptor \(interceptor) (swift: \(edit.registered))" }

    /// What it came to where it works on the loop; nil where it works off it.
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

    /// What it came to, off the loop.
    /// - Parameter repeated: what is called where its work completes more than once.
    public func answer(repeated: @escaping @Sendable () -> Void) async -> SwiftAnswer {
        await CompletionReport.$current.withValue(CompletionReport(repeated: repeated)) {
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

/// What an interceptor that is written in Swift came to.
public enum SwiftAnswer: Sendable {
    case request(Request)
    case response(Response)
    case verdict(Interceptors.Verdict)
    /// In words that follow its name.
    case failed(String)

    init(_ error: any Error) {
        if let verdict = error as? Interceptors.Verdict {
            self = .verdict(verdict)
        } else {
            let words = String(describing: error).unicodeScalars.prefix(Self.mostWords)
            // words of others: a line of the log is one line
            let plain = words.map { $0.value < 0x20 || $0.value == 0x7F ? " " : String($0) }
            self = .failed("threw \(plain.joined())")
        }
    }

    private static let mostWords = 200
}
