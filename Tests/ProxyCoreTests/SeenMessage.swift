/// A message as whoever it is for has it by now, whatever protocol it came in: without what frames it.
struct SeenMessage: Equatable {
    /// `GET http://a.test/x`, or a status.
    var start: String
    /// `name: value`, names in small letters, in the order of the alphabet.
    var fields: [String] = []
    var body: [UInt8] = []
    var trailers: [String] = []
    /// Statuses of interim responses before it.
    var interim: [Int] = []
    var isWhole = false
    /// It was given up before it was whole.
    var isReset = false
    /// Usher made it.
    var isOwn = false
    /// What follows is no message.
    var isTunnel = false

    private static let framing: Set<String> = [
        "content-length", "transfer-encoding", "connection", "keep-alive", "host", "date", "sec-websocket-key",
        "sec-websocket-accept", "via", "usher-flow",
    ]

    init(start: String, fields: some Sequence<(name: String, value: String)>) {
        self.start = start
        isOwn = fields.contains { $0.name.lowercased() == "usher-flow" }
        self.fields = fields.map { ($0.name.lowercased(), $0.value) }.filter { !Self.framing.contains($0.0) }
            .map { "\($0.0): \($0.1)" }.sorted()
    }

    mutating func end(trailers bytes: [UInt8]) {
        trailers = WireMessage.text(bytes).split(separator: "\r\n").map { $0.lowercased() }
        isWhole = true
    }

    var state: String { isReset ? "reset" : isWhole ? "whole" : "open" }

    subscript(_ name: String) -> String? {
        fields.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }
}
