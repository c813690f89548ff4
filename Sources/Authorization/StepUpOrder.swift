public import HTTPCodec
public import Interception

/// A call to AM, ready but for its framing: whoever sends it writes Content-Length.
public struct ServerCall: Sendable {
    public var head: RequestHead
    public var body: [UInt8]
    /// Counted from 1 within one step-up or login.
    public var number: Int
    /// What the call means to rules: the first of a step-up is START_AUTHENTICATE, the others AUTHENTICATE, all with the
    /// advice document as their tree.
    public var action: Action
    public var payload: ActionPayload?
    /// It tells AM answers, which AM may find wrong.
    public var carriesAnswers: Bool

    public init(
        head: RequestHead, body: [UInt8], number: Int = 1, action: Action, payload: ActionPayload? = nil,
        carriesAnswers: Bool = false
    ) {
        self.head = head
        self.body = body
        self.number = number
        self.action = action
        self.payload = payload
        self.carriesAnswers = carriesAnswers
    }
}

extension StepUp {
    /// What to do next.
    public enum Order: Sendable {
        case send(ServerCall)
        /// AM wants to be asked again later, or answers are ready (`isAtTurn`); ends with `woke()`.
        case wait(milliseconds: Int)
        /// A person is asked; ends with `told(_:)` or `denied()`.
        case ask(OpenStep)
        case succeeded(Outcome)
        case failed(Failure)
    }

    /// What AM granted. Whether it suffices only the replay tells (docs/protocol.md#how-it-ends).
    public struct Outcome: Equatable, Sendable {
        /// The session that takes the old one's place; nil where the old one stays.
        public var session: String?
        /// The affinity cookie that goes with the new session.
        public var affinity: String?
        /// AM's own `Set-Cookie` values for these two, as they came.
        public var setCookieLines: [String]

        public init(session: String? = nil, affinity: String? = nil, setCookieLines: [String] = []) {
            self.session = session
            self.affinity = affinity
            self.setCookieLines = setCookieLines
        }
    }

    /// Why a step-up ended without success. The client then gets the response that carried the advice.
    public struct Failure: Error, Equatable, Sendable {
        public enum Code: String, Sendable, CaseIterable {
            /// The advice or the session cannot be put to AM.
            case unusable
            /// AM refused the credentials (401).
            case denied
            /// AM asks again for what it was told.
            case refused
            /// AM does not know the transaction any more (401 with errorCode 128): a new id may be asked for.
            case transactionUnreadable
            /// AM's own authentication session timed out.
            case expired
            /// AM found the call itself faulty (400).
            case badCall
            /// Any other status.
            case unexpectedStatus
            case notJSON
            case tooLarge
            case tooManySteps
            /// A callback that no configuration can answer.
            case unsupportedCallback
            /// A callback that could be answered, but no answer is configured or it does not fit.
            case unanswered
            /// The tree goes on by a link sent to the user.
            case suspended
            /// The sender's own: it went on with what had not waited.
            case cancelled
        }

        public var code: Code
        /// One sentence for the log, without secrets.
        public var reason: String

        public init(_ code: Code, _ reason: String) {
            self.code = code
            self.reason = reason
        }

        /// It may go well when it is tried again.
        public var isTransient: Bool {
            switch code {
            case .expired, .unexpectedStatus, .notJSON, .cancelled: true
            default: false
            }
        }

        /// Whether it may be that AM found the answers wrong, where it had been told any. What ends elsewhere says
        /// nothing about them.
        public var doubtsAnswers: Bool {
            switch code {
            case .unusable, .transactionUnreadable, .expired, .unsupportedCallback, .unanswered, .suspended: false
            case .denied, .refused, .badCall, .unexpectedStatus, .notJSON, .tooLarge, .tooManySteps, .cancelled:
                true
            }
        }
    }
}
