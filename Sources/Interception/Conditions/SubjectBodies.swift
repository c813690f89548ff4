/// The bodies that conditions look at, as far as they are here.
struct SubjectBodies {
    /// In the response phase as it was sent.
    var request: EditedBody?
    var response: EditedBody?
    /// Why a condition that was judged last could not look at one.
    var fault: String?
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
