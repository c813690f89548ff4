internal import Formats
public import Journal

/// Makes a recording of stored flows.
public enum RecordingBuilder {
    /// - Parameters:
    /// - flows: in any order.
    /// - now: seconds since 1970.
    /// - Returns: the recording, and remarks about what it lacks.
    public static func recording(
        _ name: String, of flows: [PackedFlow], now: Int
    ) -> (recording: Recording, remarks: [String]) {
        var remarks: [String] = []
        var exchanges: [RecordedExchange] = []
        var numbering = AliasNumbering()
        let order = flows.sorted { ($0[.began], $0[.sequence]) < ($1[.began], $1[.sequence]) }
        for flow in order {
            guard flow[.scheme] != 0, let request = FlowMessage(flow, .request) else {
                remarks.append("\(flow.url) was a tunnel that was not opened; its content is not recorded")
                continue
            }
            guard let response = FlowMessage(flow, .response) else {
                remarks.append("\(request.method) \(request.url) had no response; it is not recorded")
                continue
            }
            guard response.status >= 200 else {
                remarks.append("\(request.method) \(request.url) changed to another protocol; it is not recorded")
                continue
            }
            let action = flow.text(.action)
            let exchange = RecordedExchange(
                name: fileName(exchanges.count + 1, action, request), action: action,
                tree: numbering.text(flow.text(.tree) ?? ""), at: flow[.began] / 1000, method: request.method,
                url: numbering.text(request.url), request: message(request, without: requestFields, &numbering),
                status: response.status, response: message(response, without: responseFields, &numbering))
            if request.isCut || response.isCut {
                remarks.append(
                    "\(exchange.name): the journal kept only a part of a body; raise journal.bodies and record again")
            }
            exchanges.append(exchange)
        }
        var recording = Recording(name: name, recorded: now, exchanges: exchanges)
        let sources = ValueSources(exchanges)
        for (alias, source) in sources.all where !source.isSent {
            recording.values[alias] = ValueForm(alias.kind, named: source.name)
        }
        recording.volatile = volatile(in: exchanges)
        return (recording, remarks)
    }

    /// Fields that concern one connection or the coding of the body.
    private static let requestFields: Set<String> = [
        "accept-encoding", "connection", "content-length", "host", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding",
    ]
    private static let responseFields: Set<String> = [
        "connection", "content-encoding", "content-length", "date", "keep-alive", "transfer-encoding",
    ]

    private static func message(
        _ message: FlowMessage, without dropped: Set<String>, _ numbering: inout AliasNumbering
    ) -> RecordedMessage {
        var out = RecordedMessage()
        for field in message.fields.list where !dropped.contains(ASCII.lowercased(field.name)) {
            out.fields.append((field.name, numbering.text(field.value)))
        }
        out.body = numbering.numbered(message.body)
        return out
    }

    /// Such as `003-authenticate`, or `004-get-orders` without an Action.
    private static func fileName(_ number: Int, _ action: String?, _ request: FlowMessage) -> String {
        let path = RecordedExchange.parts(of: request.url).target.prefix { $0 != "?" }
        let word = action ?? "\(request.method) \(path.split(separator: "/").last ?? "")"
        let safe = ASCII.lowercased(word).utf8.prefix(40).map {
            ASCII.isAlpha($0) || ASCII.isDigit($0) ? $0 : 0x2D
        }
        let digits = "\(1000 + number)".dropFirst(number < 1000 ? 1 : 0)
        return "\(digits)-" + String(decoding: safe, as: UTF8.self).split(separator: "-").joined(separator: "-")
    }

    /// The places of requests with random texts, ids, times and long numbers that no earlier response gave.
    private static func volatile(in exchanges: [RecordedExchange]) -> Set<String> {
        var places: Set<String> = []
        for (index, exchange) in exchanges.enumerated() {
            for part in RequestParts(exchange).parts where part.pattern.aliases.isEmpty {
                guard !part.place.hasPrefix("header."), !part.place.hasPrefix("cookie."), part.place != "path",
                    differsByChance(part.value)
                else { continue }
                let value = Array(part.value.utf8)
                let isGiven = exchanges[..<index].contains { exchange in
                    ByteSearch(value).next(in: exchange.response.body.span) != nil
                }
                if !isGiven { places.insert(part.place) }
            }
        }
        return places
    }

    /// The length from which a word of digits, capitals and small letters is random, such as a `code_challenge`.
    private static let shortestRandom = 24

    private static func differsByChance(_ text: String) -> Bool {
        var steady = SteadyText()
        if steady.steady(text) != text { return true }
        let bytes = text.utf8
        return bytes.count >= shortestRandom && bytes.allSatisfy(ASCII.isUnreserved)
            && bytes.contains(where: ASCII.isDigit)
            && bytes.contains { $0 &- 0x41 < 26 } && bytes.contains { $0 &- 0x61 < 26 }
    }
}

extension AliasNumbering {
    fileprivate mutating func text(_ text: String) -> String { String(decoding: numbered(text.utf8), as: UTF8.self) }
}
