internal import HTTPCodec

/// Who may ask at all. Whoever reaches the socket may; a page in somebody's browser may not, should the socket ever be made
/// reachable for it.
enum ControlGate {
    /// What the interface is called by those who ask it.
    private static let names: Set<String> = ["localhost", "usher"]

    static func problem(of head: borrowing RequestHead) -> ControlProblem? {
        guard head.target.form != .authority else { return ControlProblem(405, "this is no proxy") }
        guard names.contains(head.host) else {
            return ControlProblem(421, "this is asked for as localhost, and under no other name")
        }
        guard head.fields["Origin"] == nil, head.fields["Sec-Fetch-Site"] == nil else {
            return ControlProblem(403, "pages in browsers are not answered")
        }
        return nil
    }
}
