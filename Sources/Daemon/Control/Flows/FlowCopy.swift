/// The forms that a flow can be copied in.
public enum FlowCopy: String, CaseIterable, Sendable {
    /// A curl command that repeats the request.
    case curl
    /// Both messages.
    case http
    /// A case for `usher test`.
    case test
    /// An interceptor whose condition fits the request.
    case rule
}
