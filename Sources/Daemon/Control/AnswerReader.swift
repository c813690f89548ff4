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
                throw .init("link takes a text, and no other member beside it")
            }
            return PersonAnswers(link: text)
        }
        var answers = PersonAnswers()
        if let list = body["answers"] {
            guard let items = list.items, !items.isEmpty, body.members?.count == 1 else {
                throw .init("answers takes a list that is not empty, and no other member beside it")
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
        guard let members = object.members else { throw .init("an answer must be an object with callback and value") }
        if let odd = members.first(where: { !names.contains($0.name) }) {
            throw .init("unknown member \(odd.name.prefix(40)); valid members: \(names.joined(separator: ", "))")
        }
    }

    private func add(_ item: JSONValue, to answers: inout PersonAnswers) throws(OpenStep.Refusal) {
        guard let value = item["value"], let texts = texts(value) else {
            throw .init("an answer needs a value: a text, a number, true or false; for several parts, a list of texts")
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
                throw .init("the step-up asks for \(asked.isEmpty ? "no callback" : asked); name the callback")
            }
            return only.index
        }
        // the directory refuses an index that is not open, with a better message
        if let number = name.integer ?? name.text.flatMap({ Int($0) }) { return number }
        guard let type = name.text else { throw .init("callback takes the number or the type of a callback") }
        let fits = open.filter { ASCII.equal($0.type, type) }
        guard let first = fits.first else { throw .init("the step-up asks for \(asked), not for \(type.prefix(80))") }
        guard fits.count == 1 else {
            throw .init(
                "the step-up asks for \(fits.count) of \(type); name one by its number: "
                    + fits.map { "\($0.index)" }.joined(separator: ", "))
        }
        return first.index
    }
}
