internal import Authorization
internal import Formats
internal import ProxyCore

/// Reads a person's answers from a request body.
///
/// The body is `{"link": …}`, `{"answers": [{"callback": …, "value": …}]}`, or one `callback` and `value`. A callback is named by
/// its index in the page or by its type. The name may be omitted if only one callback is open.
struct AnswerReader {
    /// The shape of a body, as far as it does not depend on the open callbacks.
    static let shape: ControlShape = {
        let value = ControlShape.either([.text, .number, .flag, .list(.text)])
        let callback = ControlShape.either([.text, .integer(0...Int.max)])
        return .either([
            .object(["callback?": callback, "value": value]),
            .object(["answers": .list(.object(["callback?": callback, "value": value]))]), .object(["link": .text]),
        ])
    }()

    private let open: [OpenCallback]
    private let isSuspended: Bool

    init(_ waiting: WaitingTransaction) {
        open = waiting.missing
        isSuspended = waiting.transaction.step.isSuspended
    }

    func answers(_ body: JSONValue) throws(OpenStep.Refusal) -> PersonAnswers {
        try mustKnow(body, ["link", "answers", "callback", "value"])
        if let link = body["link"] {
            guard let text = link.text, body.members?.count == 1 else {
                throw .init("a link is a text, and stands alone")
            }
            return PersonAnswers(link: text)
        }
        var answers = PersonAnswers()
        if let list = body["answers"] {
            guard let items = list.items, !items.isEmpty, body.members?.count == 1 else {
                throw .init("answers is a list, and stands alone")
            }
            for item in items {
                try mustKnow(item, ["callback", "value"])
                try add(item, to: &answers)
            }
        } else if isSuspended, body["callback"] == nil, let link = body["value"]?.text {
            answers.link = link
        } else {
            try add(body, to: &answers)
        }
        return answers
    }

    private func mustKnow(_ object: JSONValue, _ names: [String]) throws(OpenStep.Refusal) {
        guard let members = object.members else { throw .init("an answer is an object with callback and value") }
        if let odd = members.first(where: { !names.contains($0.name) }) {
            throw .init("an answer has no \(odd.name.prefix(40)); it has \(names.joined(separator: ", "))")
        }
    }

    private func add(_ item: JSONValue, to answers: inout PersonAnswers) throws(OpenStep.Refusal) {
        guard let value = item["value"], let texts = texts(value) else {
            throw .init("an answer has a value: a text, a number, true or false, or a list of them for several parts")
        }
        let place = try place(item["callback"])
        guard answers.callbacks.updateValue(texts, forKey: place) == nil else {
            throw .init("callback \(place) is answered twice")
        }
    }

    private func texts(_ value: JSONValue) -> [String]? {
        switch value {
        case .string(let text): return [text]
        case .number(let text): return [text]
        case .bool(let flag): return [flag ? "true" : "false"]
        case .array(let items):
            var texts: [String] = []
            for item in items {
                guard case .string(let text) = item else { return nil }
                texts.append(text)
            }
            return texts
        case .null, .object: return nil
        }
    }

    private func place(_ name: JSONValue?) throws(OpenStep.Refusal) -> Int {
        let asked = open.map(\.shown).joined(separator: ", ")
        guard let name else {
            guard open.count == 1, let only = open.first else {
                throw .init("it asks for \(asked.isEmpty ? "no callback" : asked); say which is answered")
            }
            return only.index
        }
        // the directory refuses an index that is not open, with a better message
        if let number = name.integer ?? name.text.flatMap({ Int($0) }) { return number }
        guard let type = name.text else { throw .init("a callback is named by its place or its type") }
        let fits = open.filter { ASCII.equal($0.type, type) }
        guard let first = fits.first else { throw .init("it asks for \(asked), and for no \(type.prefix(80))") }
        guard fits.count == 1 else {
            throw .init(
                "it asks for \(fits.count) of \(type); say which by its place: "
                    + fits.map { "\($0.index)" }.joined(separator: ", "))
        }
        return first.index
    }
}
