import Formats
import Interception

/// Text pasted into `usher explain`: a request, with additions that other commands print.
struct PastedText {
    /// A message, the fields of an HTTP/2 request, or a curl command.
    private(set) var request: [UInt8]
    /// The response after the request, as `usher flow --http` prints it.
    private(set) var response: [UInt8]?
    /// The body that a pipe passes to the command.
    private(set) var input: [UInt8]?
    /// The recorded payload of the flow. An `authId` reveals it only to a process that saw the journey begin.
    private(set) var payload: ActionPayload?

    init(_ text: [UInt8]) {
        var rest = text.drop { $0 <= ASCII.space }
        while rest.first == Self.hash {
            let end = rest.firstIndex(of: ASCII.lf) ?? rest.endIndex
            let line = rest[..<end].last == ASCII.cr ? rest[..<end].dropLast() : rest[..<end]
            payload = Self.payload(String(decoding: line, as: UTF8.self)) ?? payload
            rest = rest[end...].drop { $0 <= ASCII.space }
        }
        request = Array(rest)
        takePipe()
        if !isCommand { takeResponse() }
    }

    private static let hash: UInt8 = 0x23

    var isCommand: Bool { request.starts(with: "curl ".utf8) }

    // MARK: comments

    private static let remark = "# seen as "

    /// The comment that records the journey of a call; nil if there is none.
    static func remark(action: String, tree: String, type: String) -> String? {
        guard !tree.isEmpty || !type.isEmpty else { return nil }
        let words = [("action", action), ("tree", tree), ("type", type)].filter { !$0.1.isEmpty }
        return remark.dropFirst(2) + words.map { "\($0.0)=\(PercentCoding.encode($0.1))" }.joined(separator: " ")
    }

    private static func payload(_ line: String) -> ActionPayload? {
        guard line.hasPrefix(remark) else { return nil }
        var payload = ActionPayload(tree: nil, type: nil)
        for word in line.dropFirst(remark.count).split(separator: " ") {
            let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { continue }
            switch pair[0] {
            case "tree": payload.tree = PercentCoding.decode(pair[1])
            case "type": payload.type = PercentCoding.decode(pair[1])
            default: break
            }
        }
        return payload.tree == nil && payload.type == nil ? nil : payload
    }

    // MARK: piped body

    /// Parses `printf %s BASE64 | base64 -d | curl … --data-binary @-`.
    private mutating func takePipe() {
        let text = String(decoding: request, as: UTF8.self)
        let (start, middle, end) = ("printf %s ", " | base64 -d | ", "--data-binary @-")
        guard text.hasPrefix(start), let pipe = text.firstRange(of: middle), text.contains(end),
            let bytes = Base64.decode(text[text.index(text.startIndex, offsetBy: start.count)..<pipe.lowerBound])
        else { return }
        input = bytes
        let command = text[pipe.upperBound...].replacing(end, with: "--data-raw ''", maxReplacements: 1)
        request = Array(command.drop { $0.isWhitespace || $0 == "\\" }.utf8)
    }

    // MARK: response

    /// Splits off a response after an empty line, unless the request declares it as part of its body.
    private mutating func takeResponse() {
        guard let blank = Self.blank(request[...]) else { return }
        let rest = request[blank...]
        let stated = GivenMessage(request).length
        if let stated, rest.count <= stated { return }
        var found: Range<Int>?
        var place = rest.startIndex
        while let next = rest[place...].firstRange(of: Self.beginning) {
            place = next.upperBound
            guard let end = Self.end(of: rest[..<next.lowerBound]), Self.isStatusLine(rest[next.lowerBound...]) else {
                continue
            }
            let isWhole = end - rest.startIndex == stated
            if found == nil || isWhole { found = end..<next.lowerBound }
            if isWhole { break }
        }
        guard let found else { return }
        response = Array(request[found.upperBound...])
        request = Array(request[..<found.lowerBound])
    }

    private static let beginning = Array("HTTP/".utf8)

    /// The beginning of the body.
    private static func blank(_ text: ArraySlice<UInt8>) -> Int? {
        let ends = [Array("\r\n\r\n".utf8), Array("\n\n".utf8)].compactMap { text.firstRange(of: $0)?.upperBound }
        return ends.min()
    }

    /// The end of a body that is followed by an empty line; 0 if there is no body.
    private static func end(of text: ArraySlice<UInt8>) -> Int? {
        if text.isEmpty { return text.endIndex }
        let blanks = [Array("\r\n\r\n".utf8), Array("\n\n".utf8)]
        return blanks.first { text.suffix($0.count) == $0[...] }.map { text.endIndex - $0.count }
    }

    private static func isStatusLine(_ text: ArraySlice<UInt8>) -> Bool {
        let words = text.prefix { $0 != ASCII.lf }.split(separator: ASCII.space, omittingEmptySubsequences: false)
        guard words.count > 1 else { return false }
        let status = words[1].prefix { $0 != ASCII.cr }
        return status.count == 3 && status.allSatisfy(ASCII.isDigit)
    }
}
