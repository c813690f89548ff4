internal import Formats
internal import HTTPCodec

/// Writes AM's JSON in unusual forms. Other JSON stays as it is.
struct VariedJSON: ResponseEdit, BodyEdit, InnerEdit {
    static let name = "vary"
    static let sparesCalls = true

    /// A member of each of AM's objects: a step, a session, tokens, an error, a refusal of a grant, a result.
    private static let signs = ["authId", "tokenId", "access_token", "reason", "error", "result"]

    private let variation: Variation

    init(_ variation: Variation) { self.variation = variation }

    func concerns(_ type: MediaType?) -> Bool { type?.isJSON == true }

    func apply(to head: inout ResponseHead) -> EditEffect { .changed([]) }

    func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        guard var value = try? JSONValue(parsing: try body.bytes()), Self.signs.contains(where: { value[$0] != nil })
        else { return [] }
        if variation.addsCallback, let callbacks = value["callbacks"]?.items {
            value["callbacks"] = .array(callbacks + [AddedCallback.value])
        }
        var out: [UInt8] = []
        write(varied(value), 0, to: &out)
        try body.replace(with: out)
        return ["varied the JSON"]
    }

    private func varied(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let items): return .array(items.map(varied))
        case .object(var members):
            for index in members.indices { members[index].value = varied(members[index].value) }
            if variation.isReversed { members.reverse() }
            if variation.addsMembers { members.insert(.init("_new", ["of": [1, .null, "vary"]]), at: 0) }
            return .object(members)
        default: return value
        }
    }

    // MARK: text

    private func write(_ value: JSONValue, _ depth: Int, to out: inout [UInt8]) {
        switch value {
        case .array(let items):
            list(0x5B, items, 0x5D, depth, to: &out) { item, out in write(item, depth + 1, to: &out) }
        case .object(let members):
            list(0x7B, members, 0x7D, depth, to: &out) { member, out in
                text(member.name, to: &out)
                out += (variation.gap == .none ? ":" : " : ").utf8
                write(member.value, depth + 1, to: &out)
            }
        case .string(let content): text(content, to: &out)
        case .null, .bool, .number: value.write(to: &out)
        }
    }

    private func list<Item>(
        _ start: UInt8, _ items: [Item], _ end: UInt8, _ depth: Int, to out: inout [UInt8],
        _ write: (Item, inout [UInt8]) -> Void
    ) {
        out.append(start)
        for (index, item) in items.enumerated() {
            if index > 0 { out.append(0x2C) }
            space(depth + 1, to: &out)
            write(item, &out)
        }
        space(depth, to: &out)
        out.append(end)
    }

    private func space(_ depth: Int, to out: inout [UInt8]) {
        switch variation.gap {
        case .none: break
        case .spaces: out.append(ASCII.space)
        case .lines: out += "\r\n".utf8 + Array(repeating: ASCII.tab, count: depth)
        }
    }

    private func text(_ content: String, to out: inout [UInt8]) {
        var plain: [UInt8] = []
        JSONValue.writeString(content, to: &plain)
        guard variation.escapesSlashes else { return out += plain }
        for byte in plain {
            if byte == 0x2F { out.append(0x5C) }
            out.append(byte)
        }
    }
}

/// The callback that `vary` adds to steps. Takes it out of what the app returns, because AM counts callbacks.
struct AddedCallback: RequestEdit, BodyEdit, InnerEdit {
    static let name = "vary"
    static let sparesCalls = true

    private static let mark = "usher_vary"
    static let value: JSONValue = [
        "type": "MetadataCallback", "output": [["name": "data", "value": [mark: true]]], "input": [],
    ]

    func concerns(_ type: MediaType?) -> Bool { type?.isJSON == true }

    func apply(to head: inout RequestHead) -> EditEffect { .changed([]) }

    func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        var text = JSONText(try body.bytes())
        guard let value = try? JSONValue(parsing: text.bytes), let callbacks = value["callbacks"]?.items,
            let place = callbacks.firstIndex(where: Self.isOwn), let pointer = JSONPointer("/callbacks/\(place)"),
            (try? text.remove(pointer)) != nil
        else { return [] }
        try body.replace(with: text.bytes)
        return ["removed the added callback"]
    }

    private static func isOwn(_ callback: JSONValue) -> Bool {
        callback["type"] == "MetadataCallback"
            && callback["output"]?.items?.contains { $0["value"]?[mark] != nil } == true
    }
}
