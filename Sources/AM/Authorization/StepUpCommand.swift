public import HTTPCodec
public import Interception

/// A call to AM. The sender adds Content-Length.
public struct ServerCall: Sendable {
    public var head: RequestHead
    public var body: [UInt8]
    /// Counted from 1 within one step-up or login.
    public var number: Int
    /// The Action for interceptors: START_AUTHENTICATE for the first call of a step-up, then AUTHENTICATE. All have the advice
    /// document as their tree.
    public var action: Action
    public var payload: ActionPayload?
    /// True if the call contains answers that AM may find wrong.
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
    /// The next step.
    public enum Command: Sendable {
        case send(ServerCall)
        /// Wait before the next call, or for permission (`isAtTurn`); continues with `woke()`.
        case wait(milliseconds: Int)
        /// Ask a person; continues with `told(_:)` or `denied()`.
        case ask(OpenStep)
        case succeeded(Outcome)
        case failed(Failure)
    }

    /// The grant by AM. Only the replay shows whether it suffices (docs/protocol.md#how-it-ends).
    public struct Outcome: Equatable, Sendable {
        /// The new session; nil if the old one stays.
        public var session: String?
        /// The affinity cookie of the new session.
        public var affinity: String?
        /// AM's `Set-Cookie` values for both, unchanged.
        public var setCookieLines: [String]

        public init(session: String? = nil, affinity: String? = nil, setCookieLines: [String] = []) {
            self.session = session
            self.affinity = affinity
            self.setCookieLines = setCookieLines
        }
    }

    /// The reason for a failed step-up. The client then gets the response with the advice.
    public struct Failure: Error, Equatable, Sendable {
        public enum Code: String, Sendable, CaseIterable {
            /// The advice or the session cannot be sent to AM.
            case unusable
            /// AM refused the credentials (401).
            case denied
            /// AM asks again for an answer that it has received.
            case refused
            /// AM does not know the transaction any more (401 with errorCode 128). A new id may be requested.
            case transactionUnreadable
            /// AM's authentication session timed out.
            case expired
            /// AM rejected the call as malformed (400).
            case badCall
            /// Any other status.
            case unexpectedStatus
            case notJSON
            case tooLarge
            case tooManySteps
            /// A callback that no configuration can answer.
            case unsupportedCallback
            /// A callback without a matching configured answer.
            case unanswered
            /// The tree continues through a link sent to the user.
            case suspended
            /// The caller used the state machine in a wrong state.
            case cancelled
        }

        public var code: Code
        /// One sentence for the log, without secrets.
        public var reason: String

        public init(_ code: Code, _ reason: String) {
            self.code = code
            self.reason = reason
        }

        /// True if a repetition may succeed.
        public var isTransient: Bool {
            switch code {
            case .expired, .unexpectedStatus, .notJSON, .cancelled: true
            default: false
            }
        }

        /// Whether the failure may mean that AM found the answers wrong, provided that it received any.
        public var doubtsAnswers: Bool {
            switch code {
            case .unusable, .transactionUnreadable, .expired, .unsupportedCallback, .unanswered, .suspended: false
            case .denied, .refused, .badCall, .unexpectedStatus, .notJSON, .tooLarge, .tooManySteps, .cancelled:
                true
            }
        }
    }
}
