internal import Formats
internal import Journal

/// Some flows as an HTTP Archive.
struct HARPage {
    private var bytes: [UInt8]

    /// - Parameter most: bytes; where they are reached, the page ends behind that flow.
    init(_ page: FlowQuery.Page, most: Int, version: String) {
        bytes = Array(HAREntry.beginning(version: version).utf8)
        var next = page.next
        var isFirst = true
        for (index, flow) in page.flows.enumerated() {
            guard let entry = HAREntry(flow) else { continue }
            if !isFirst { bytes.append(0x2C) }
            isFirst = false
            entry.value.write(to: &bytes)
            guard bytes.count >= most, index < page.flows.count - 1 else { continue }
            next = flow[.sequence]
            break
        }
        bytes += "]".utf8
        if let next { bytes += ",\"_next\":\(next)".utf8 }
        bytes += "}}\n".utf8
    }

    var answer: ControlAnswer { ControlAnswer(bytes, type: "application/json") }
}
