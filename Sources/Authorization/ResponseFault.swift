internal import Formats

/// What an answer of AM that is no 200 means (docs/protocol.md#how-it-ends).
public enum ResponseFault {
    /// AM says neither which of the two it is nor which answer it means.
    public static let wrongAnswers = "the answers are wrong, or those of another user than the session's"

    static func askedAgain(_ answer: GivenAnswers.Answer) -> String {
        "AM asks again for \(Callback.shown(answer.type, answer.prompt)), which was answered: \(wrongAnswers)"
    }

    /// - Parameter hasStep: the answer carries an `authId`: AM asks for a credential in a field of the request.
    static func failure(status: Int, answer: JSONValue?, hasStep: Bool) -> StepUp.Failure {
        // newer servers write the number as text, others as a number
        let value = answer?["detail"]?["errorCode"] ?? answer?["errorCode"]
        let code = value?.text ?? value?.integer.map(String.init)
        let shown = code.map { " with errorCode \(LogText.shown($0))" } ?? ""
        switch (status, code) {
        case (401, "128"):
            return .init(
                .transactionUnreadable, "AM cannot read the transaction: it is unknown, expired or used (401/128)")
        case (401, "110"), (408, _):
            return .init(.expired, "AM's authentication session timed out (\(status)\(shown))")
        case (401, _) where hasStep:
            return .init(.unsupportedCallback, "AM asks for HTTP authentication, which cannot be answered (401)")
        case (401, _):
            return .init(.denied, "AM refused to authenticate (401\(shown)): \(wrongAnswers)")
        case (400, _): return .init(.badCall, "AM found the call faulty (400\(shown))")
        default: return .init(.unexpectedStatus, "AM answered \(status)\(shown)")
        }
    }
}
