internal import HTTPCodec

/// The arguments in a request's path and query, validated against its route's parameters.
public struct ControlArguments: Sendable {
    private var values: [String: [String]] = [:]

    public init() {}

    /// - Parameter path: the values of the names in the path.
    init(_ path: [String: String], query: String?, _ parameters: [RouteParameter]) throws(ControlProblem) {
        for parameter in parameters where parameter.isInPath {
            let value = path[parameter.name] ?? ""
            if let fault = parameter.fault(in: value) { throw ControlProblem(400, "\(parameter.name) \(fault)") }
            values[parameter.name] = [value]
        }
        for pair in QueryText(query ?? "").pairs where !pair.isEmpty {
            try read(QueryText.name(pair), QueryText.value(pair), parameters)
        }
        for parameter in parameters where parameter.isRequired && values[parameter.name] == nil {
            throw ControlProblem(400, "\(parameter.name) is missing from the query")
        }
    }

    private mutating func read(
        _ name: String, _ value: String, _ parameters: [RouteParameter]
    ) throws(ControlProblem) {
        let known = parameters.filter { !$0.isInPath }
        guard let parameter = known.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            let names =
                known.isEmpty ? "the route takes none" : "the route takes \(known.map(\.name).joined(separator: ", "))"
            throw ControlProblem(400, "unknown query parameter \(name.prefix(80)); \(names)")
        }
        if let fault = parameter.fault(in: value) { throw ControlProblem(400, "\(parameter.name) \(fault)") }
        guard parameter.isList || values[parameter.name] == nil else {
            throw ControlProblem(400, "\(parameter.name) is in the query more than once")
        }
        values[parameter.name, default: []].append(value)
    }

    public func text(_ name: String) -> String? { values[name]?.first }
    public func texts(_ name: String) -> [String] { values[name] ?? [] }
    public func integer(_ name: String) -> Int? { text(name).flatMap { RouteParameter.number($0) } }
    public func flag(_ name: String) -> Bool { text(name) == "true" }
}
