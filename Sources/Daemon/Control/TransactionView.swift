internal import Authorization
internal import Formats
internal import ProxyCore

/// A waiting step-up as JSON. Its texts come from clients, resources and AM. A list has size limits so that commands can read it;
/// a single step-up shows as much as possible.
struct TransactionView {
    enum Extent {
        case listed, whole

        /// The limit of one text in bytes.
        var longest: Int {
            switch self {
            case .listed: 300
            case .whole: 8 << 10
            }
        }

        /// The limit of the whole in bytes.
        var most: Int {
            switch self {
            // a thousand of them stay below the limit of the commands
            case .listed: 3 << 10
            case .whole: 1 << 20
            }
        }
    }

    static let shape = ControlShape.object([
        "id": .text, "client": .text, "user": .optional(.text), "session": .optional(.text), "method": .text,
        "resource": .text, "am": .text,
        "realm": .text, "tree": .optional(.text), "stage": .text, "header": .text, "messages": .list(.text),
        "waited_ms": .count, "left_ms": .count, "kind": .choice(["suspended", "callbacks"]), "message?": .text,
        "callbacks": .list(callbackShape), "shortened": .flag,
    ])

    static let callbackShape = ControlShape.object([
        "index": .count, "type": .text, "prompt": .text, "form": .text, "secret": .flag,
        "choices": .list(.object(["number": .integer(.min ... .max), "label": .text])), "parts": .list(.text),
        "policies": .list(.text),
    ])

    private let longest: Int
    private var left: Int
    private var isShortened = false

    static func of(_ waiting: WaitingTransaction, _ extent: Extent, now: Int) -> JSONValue {
        var view = TransactionView(extent)
        return view.transaction(waiting, now)
    }

    static func of(_ callbacks: [OpenCallback]) -> JSONValue {
        var view = TransactionView(.whole)
        return view.list(callbacks)
    }

    private init(_ extent: Extent) {
        longest = extent.longest
        left = extent.most
    }

    private mutating func transaction(_ waiting: WaitingTransaction, _ now: Int) -> JSONValue {
        let transaction = waiting.transaction
        let step = transaction.step
        reserve(400)
        var members: JSONValue = [
            "id": .string(waiting.id.description), "client": .string(transaction.client.address),
            "user": transaction.client.user.map { text($0) } ?? .null, "session": .optional(transaction.client.session),
            "method": text(transaction.method),
            "resource": text(transaction.resource), "am": text(transaction.server), "realm": text(transaction.realm),
            "tree": transaction.tree.map { text($0) } ?? .null, "stage": text(step.stage), "header": text(step.header),
            "messages": .array(texts(step.messages)), "waited_ms": .integer(max(0, now - transaction.since)),
            "left_ms": .integer(max(0, transaction.until - now)),
            "kind": .string(step.isSuspended ? "suspended" : "callbacks"),
        ]
        if case .suspended(let message) = step.kind { members["message"] = text(message) }
        members["callbacks"] = list(waiting.missing)
        members["shortened"] = .bool(isShortened)
        return members
    }

    private mutating func list(_ callbacks: [OpenCallback]) -> JSONValue {
        var shown: [JSONValue] = []
        for callback in callbacks where reserve(120) { shown.append(self.callback(callback)) }
        return .array(shown)
    }

    private mutating func callback(_ callback: OpenCallback) -> JSONValue {
        var choices: [JSONValue] = []
        for choice in callback.choices where reserve(40) {
            choices.append(["number": .integer(choice.number), "label": text(choice.label)])
        }
        return [
            "index": .integer(callback.index), "type": text(callback.type), "prompt": text(callback.prompt),
            "form": .string(callback.form.rawValue), "secret": .bool(callback.isSecret), "choices": .array(choices),
            "parts": .array(texts(callback.parts)), "policies": .array(texts(callback.policies)),
        ]
    }

    private mutating func texts(_ texts: [String]) -> [JSONValue] {
        var shown: [JSONValue] = []
        for one in texts where reserve(4) { shown.append(text(one)) }
        return shown
    }

    // MARK: size limits

    /// - Returns: false if there is no room for this many bytes.
    @discardableResult
    private mutating func reserve(_ bytes: Int) -> Bool {
        guard left >= bytes else {
            isShortened = true
            return false
        }
        left -= bytes
        return true
    }

    /// As much of the text as there is room for.
    private mutating func text(_ text: String) -> JSONValue {
        var room = min(longest, left)
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let size = Self.size(scalar)
            guard size <= room else {
                isShortened = true
                out.append("…")
                break
            }
            room -= size
            left -= size
            out.append(scalar)
        }
        return .string(String(out))
    }

    /// The size in a JSON text, in bytes.
    private static func size(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0..<0x20: 6
        case 0x22, 0x5C: 2
        default: UTF8.width(scalar)
        }
    }
}
