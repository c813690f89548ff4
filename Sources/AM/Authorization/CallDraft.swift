internal import HTTPCodec
internal import Interception

/// The parts of a call to AM before it is built.
struct CallDraft {
    var method = "POST"
    var url: String
    /// The content type of the body.
    var type: String?
    var body: [UInt8] = []
    var fields: [(name: String, value: String)] = []
    var action: Action
    var number: Int

    func call() throws(HTTPFault) -> ServerCall {
        var head = try RequestHead(method: method, url: url)
        head.fields.add("Accept", "application/json")
        if let type { head.fields.add("Content-Type", type) }
        for field in fields { head.fields.add(field.name, field.value) }
        return ServerCall(
            head: head, body: body, number: number, action: action, payload: nil, carriesAnswers: false)
    }
}
