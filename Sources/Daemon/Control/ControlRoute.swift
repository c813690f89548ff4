/// A route of the admin API: method, path, description and handler.
public struct ControlRoute {
    public typealias Handler = (ControlRequest) throws(ControlProblem) -> ControlReply

    public let method: String
    /// The path as written, such as `/v1/transactions/{id}`.
    public let path: String
    public let description: RouteDescription
    /// True if the route needs no token, because it reveals nothing that is not visible from outside.
    public let isOpen: Bool
    let handler: Handler
    private let segments: [Segment]

    private enum Segment {
        case own([UInt8])
        case parameter(String)
    }

    /// - Parameters:
    /// - method: GET if nothing changes, another method otherwise.
    /// - path: a name in braces matches one segment, which the handler receives by that name.
    /// - id: a unique name such as `listTransactions`.
    public init(
        _ method: String, _ path: String, _ id: String, _ summary: String, parameters: [RouteParameter] = [],
        body: ControlShape? = nil, needsBody: Bool = true, answers: [RouteAnswer], problems: [Int: String] = [:],
        isOpen: Bool = false,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        description = RouteDescription(
            id: id, summary: summary, parameters: parameters, body: body, needsBody: needsBody, answers: answers,
            problems: problems)
        self.isOpen = isOpen
        self.handler = handler
        segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { segment in
            segment.hasPrefix("{") ? .parameter(String(segment.dropFirst().dropLast())) : .own(Array(segment.utf8))
        }
    }

    /// The values of the names in the path; nil if the path does not match.
    func match(_ path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var found: [String: String] = [:]
        for (segment, given) in zip(segments, path) {
            switch segment {
            // by bytes: different Unicode texts may compare as equal
            case .own(let bytes): if !given.utf8.elementsEqual(bytes) { return nil }
            case .parameter(let name): found[name] = given
            }
        }
        return found
    }
}
