/// The available bodies for conditions.
struct SubjectBodies {
    /// In the response phase, as it was sent.
    var request: EditedBody?
    var response: EditedBody?
    /// The reason why the last evaluated condition could not read a body.
    var fault: String?
}

extension Condition.Key {
    /// The message whose body the key reads; nil for keys of the heads.
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
