/// The response that `respond` sends in place of the origin's.
public struct DirectResponse: Equatable, Sendable {
    public var status: Int
    public var headers: [Pair]
    public var body: [UInt8]

    public init(status: Int, headers: [Pair] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    static func check(status: Int) throws(EditFault) {
        guard (200..<600).contains(status) else {
            throw EditFault(reason: "\(status) is not a valid status")
        }
    }

    /// Checks the response and removes framing fields, which the proxy writes.
    func checked() throws(EditFault) -> DirectResponse {
        try Self.check(status: status)
        for pair in headers { try HeaderEdit.check(pair) }
        var answer = self
        answer.headers.removeAll { !HeaderRules.isWritable($0.name) }
        return answer
    }
}
