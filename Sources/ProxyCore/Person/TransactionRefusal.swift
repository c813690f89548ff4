/// Why what a person says to a step-up is not taken.
public enum TransactionRefusal: Error, Equatable, Sendable {
    public enum Ending: Equatable, Sendable {
        case answered, denied
        /// The app was not held any longer.
        case late
        /// The app went away, or what it asked for ended otherwise.
        case left
        case displaced
    }

    /// There is none of that id, and was none lately.
    case unknown
    case over(Ending)
    /// It is no answer to what is asked.
    case unfit(String)
    /// That callback has its answer.
    case twice(place: Int)

    /// In words for the person.
    public var words: String {
        switch self {
        case .unknown: "no step-up of that id waits (usher transactions lists those that do)"
        case .over(.answered): "it was answered already"
        case .over(.denied): "it was denied already"
        case .over(.late):
            "too late: the app was held as long as authorization.hold allows, and got the original answer"
        case .over(.left): "too late: the app went away"
        case .over(.displaced): "it gave its place to another client's, for too many waited"
        case .unfit(let reason): reason
        case .twice(let place): "callback \(place) has its answer already; deny it to have it asked anew"
        }
    }
}
