/// One thing that the daemon can be asked for: how, what it says of itself, and who answers.
public struct ControlRoute {
    public typealias Handler = (ControlRequest) throws(ControlProblem) -> ControlReply

    public let method: String
    /// As it is written, `/v1/transactions/{id}`.
    public let path: String
    public let description: RouteDescription
    /// It is answered without a token, too: it tells nothing that is not seen from outside.
    public let isOpen: Bool
    let handler: Handler
    private let segments: [Segment]

    private enum Segment {
        case own([UInt8])
        case parameter(String)
    }

    /// - Parameters:
    ///   - method: GET where nothing is changed, and another everywhere else.
    ///   - path: a name in braces stands for one segment, which the handler is given by that name.
    public init(
        _ method: String, _ path: String, _ description: RouteDescription, isOpen: Bool = false,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.description = description
        self.isOpen = isOpen
        self.handler = handler
        segments = path.split(separator: "/").map { segment in
            segment.hasPrefix("{") ? .parameter(String(segment.dropFirst().dropLast())) : .own(Array(segment.utf8))
        }
    }

    /// The names in its path, in their order.
    var pathParameters: [String] {
        segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    }

    /// What the names in the path stand for; nil where the path is another.
    func match(_ path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var found: [String: String] = [:]
        for (segment, given) in zip(segments, path) {
            switch segment {
            // by bytes: two texts of Unicode may be equal and not the same
            case .own(let bytes): if !given.utf8.elementsEqual(bytes) { return nil }
            case .parameter(let name): found[name] = given
            }
        }
        return found
    }
}
