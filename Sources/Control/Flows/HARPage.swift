internal import Formats
internal import Journal

/// Some flows as an HTTP Archive.
struct HARPage {
    private var bytes: [UInt8]

    /// - Parameter most: bytes; where they are reached, the page ends behind that flow.
    init(_ page: FlowQuery.Page, most: Int, version: String) {
        bytes = Array(HAREntry.beginning(version: version).utf8)
        var next = page.next
        var entries: [(began: Int, text: [UInt8])] = []
        var size = 0
        for (index, flow) in page.flows.enumerated() {
            guard let entry = HAREntry(flow) else { continue }
            var text: [UInt8] = []
            entry.value.write(to: &text)
            size += text.count
            entries.append((flow[.began], text))
            guard size >= most, index < page.flows.count - 1 else { continue }
            next = flow[.sequence]
            break
        }
        // they come in the order in which they ended
        entries.sort { $0.began < $1.began }
        for (index, entry) in entries.enumerated() {
            if index > 0 { bytes.append(0x2C) }
            bytes += entry.text
        }
        bytes += "]".utf8
        if let next { bytes += ",\"_next\":\(next)".utf8 }
        bytes += "}}\n".utf8
    }

    var answer: ControlAnswer { ControlAnswer(bytes, type: "application/json") }
}
