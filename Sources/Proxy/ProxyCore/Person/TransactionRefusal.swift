/// The reason to refuse a person's answer to a step-up.
public enum TransactionRefusal: Error, Equatable, Sendable {
    public enum Ending: Equatable, Sendable {
        case answered, denied
        /// The app's request is no longer held.
        case late
        /// The app left, or its step-up ended otherwise.
        case left
        case displaced
    }

    /// No step-up has this id, or had it recently.
    case unknown
    case over(Ending)
    /// The answer does not fit the question.
    case unfit(String)
    /// The callback already has an answer.
    case twice(place: Int)

    /// The reason in words for the person.
    public var words: String {
        switch self {
        case .unknown: "no step-up of that id waits (usher transactions lists those that do)"
        case .over(.answered): "it was answered already"
        case .over(.denied): "it was denied already"
        case .over(.late):
            "too late: the app was held as long as authorization.hold allows, and got the original response"
        case .over(.left): "too late: the app went away"
        case .over(.displaced): "it gave its place to another client's, for too many waited"
        case .unfit(let reason): reason
        case .twice(let place): "callback \(place) has its answer already; deny it to have it asked anew"
        }
    }
}
