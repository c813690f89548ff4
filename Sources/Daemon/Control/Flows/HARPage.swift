internal import Formats
internal import Journal

/// A page of flows as an HTTP Archive.
struct HARPage {
    private var bytes: [UInt8]

    /// - Parameter most: the limit in bytes, after which the page ends.
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
        // flows come in the order of their ends
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
