internal import Interception

/// A key of a filter for flows, for those who write one.
public struct FlowFilterKey: Sendable {
    /// A name that ends with a dot takes a further name, as in `header.NAME`.
    public let name: String
    public let about: String
    /// The possible values, or usual ones; empty if there are none to name.
    public let values: [String]

    private init(_ name: String, _ about: String, _ values: [String] = []) {
        (self.name, self.about, self.values) = (name, about, values)
    }

    public static let all: [FlowFilterKey] = [
        .init("action", "what the request means to AM", Action.known.map(\.rawValue)),
        .init("tree", "the tree of a login"),
        .init("type", "how the tree was started", ["service", "composite_advice"]),
        .init("realm", "the realm"),
        .init(
            "method", "the request's method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT"]),
        .init("scheme", "http or https", ["http", "https"]), .init("host", "the host without its port"),
        .init("port", "the port"), .init("path", "the path without the query"),
        .init("header.", "a field of the request; * tests whether there is one"),
        .init("query.", "a parameter of the query"), .init("cookie.", "a cookie of the request"),
        .init("platform", "the field X-Requested-Platform"),
        .init("status", "the delivered status", ["2xx", "3xx", "4xx", "5xx"]),
        .init("content_type", "the delivered media type"),
        .init("error", "why there is no response, as in Proxy-Status; * for any"),
        .init("client", "the client's address, with or without its port"),
        .init("user", "the name that the client gave to the proxy"),
        .init("session", "the id of a test session; * for any"),
        .init("slower", "the least time, as in 200ms"), .init("larger", "the least size of a body, as in 10KiB"),
        .init("since", "the earliest beginning: 5m ago, or a time in UTC"),
        .init("until", "the latest beginning"),
        .init("changed", "messages that were changed here", ["yes", "request", "response"]),
        .init("step_up", "a step-up, or a login of Usher's own", ["yes"]),
        .init("interceptor", "an interceptor that did something, by name"),
        .init("did", "what an interceptor did", Deed.allCases.map(\.rawValue)),
        .init("flow", "the id"), .init("parent", "the flow that caused a call; * for any"),
        .init("calls", "Usher's own calls, and earlier attempts", FlowFilterReader.Calls.allCases.map(\.rawValue)),
    ]
}
