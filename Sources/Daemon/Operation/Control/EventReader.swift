import Formats

/// Parses a stream of events (`text/event-stream`) as the daemon writes it.
struct EventReader {
    struct Event {
        let name: String
        let data: JSONValue
    }

    private var waiting: [UInt8] = []
    /// The largest event in bytes.
    private static let most = 1 << 20

    /// - Returns: the events that are complete.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> [Event] {
        waiting += bytes
        var events: [Event] = []
        var start = 0
        var name = "message"
        var data: [UInt8] = []
        var line = 0
        while let end = waiting[line...].firstIndex(of: 0x0A) {
            let text = waiting[line..<end]
            line = end + 1
            if text.isEmpty {
                if !data.isEmpty, let value = try? JSONValue(parsing: data) {
                    events.append(Event(name: name, data: value))
                }
                (name, data, start) = ("message", [], line)
            } else if text.starts(with: "event: ".utf8) {
                name = String(decoding: text.dropFirst(7), as: UTF8.self)
            } else if text.starts(with: "data: ".utf8) {
                data += text.dropFirst(6)
            }
        }
        waiting.removeFirst(start)
        if waiting.count > Self.most { waiting = [] }
        return events
    }
}
