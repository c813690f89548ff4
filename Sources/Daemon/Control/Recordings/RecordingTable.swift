internal import Formats
internal import Journal
internal import Synchronization

/// The recordings under way.
public final class RecordingTable: Sendable {
    /// A recording under way: the flows from its start on that match its filter.
    struct Mark: Sendable {
        var name: String
        var filter: FlowFilter
        /// The filter as it was given.
        var words: String
        /// The sequence number of the last flow before it.
        var after: Int
        /// Seconds since 1970.
        var began: Int

        static let shape = ControlShape.object(["name": .text, "filter": .text, "began": .text])

        var json: JSONValue {
            [
                "name": .string(name), "filter": .string(words), "began": .string(CalendarTime(began).internet),
            ]
        }
    }

    private let marks = Mutex<[Mark]>([])
    private static let most = 100

    public init() {}

    /// Oldest first.
    var all: [Mark] { marks.withLock { $0 } }

    func start(_ mark: Mark) throws(ControlProblem) {
        let problem: ControlProblem? = marks.withLock { marks in
            if marks.contains(where: { $0.name == mark.name }) {
                return ControlProblem(
                    409, "a recording named \(mark.name) is under way; choose another name, or stop it")
            }
            guard marks.count < Self.most else {
                return ControlProblem(429, "\(marks.count) recordings are under way; stop some")
            }
            marks.append(mark)
            return nil
        }
        if let problem { throw problem }
    }

    func stop(_ name: String) throws(ControlProblem) -> Mark {
        let mark = marks.withLock { marks in
            marks.firstIndex { $0.name == name }.map { marks.remove(at: $0) }
        }
        guard let mark else { throw .unknown("recording under way", name, among: all.map(\.name)) }
        return mark
    }
}
