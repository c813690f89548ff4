/// The bodies that conditions look at, as far as they are here.
struct SubjectBodies {
    /// In the response phase as it was sent.
    var request: EditedBody?
    var response: EditedBody?
    /// Why a condition that was judged last could not look at one.
    var fault: String?

    /// Has the request's body changed, which is here.
    mutating func changeRequest(_ change: (inout EditedBody) -> Void) { Self.change(&request, change) }

    /// Has the response's body changed, which is here.
    mutating func changeResponse(_ change: (inout EditedBody) -> Void) { Self.change(&response, change) }

    private static func change(_ body: inout EditedBody?, _ change: (inout EditedBody) -> Void) {
        guard var found = body else { return }
        // there is one of it, so that its bytes are changed where they are
        body = nil
        change(&found)
        body = found
    }
}

extension Condition.Key {
    /// Whose body it looks at; nil for what the heads tell.
    var body: MessageSide? {
        switch self {
        case .json, .form: .request
        case .responseJSON: .response
        default: nil
        }
    }
}

enum MessageSide {
    case request, response
}
