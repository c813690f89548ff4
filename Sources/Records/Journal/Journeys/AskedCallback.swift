internal import Formats

/// A callback in a step of AM, with its answer.
public struct AskedCallback: Equatable, Sendable {
    public let type: String
    /// The prompt; empty if there is none.
    public let prompt: String
    /// The answer in the next call: a label for a choice, an alias for a secret. Nil without an answer or a next call.
    public let answer: String?
    /// The labels of a choice.
    public let choices: [String]

    /// The limit of callbacks shown for a step.
    static let most = 64
    private static let mostPrompt = 200
    private static let mostAnswer = 80

    /// - Parameters:
    /// - step: AM's response, JSON with `callbacks`; other text has none.
    /// - next: the call that answers it; nil if there is none.
    public static func all(of step: ArraySlice<UInt8>, answeredBy next: ArraySlice<UInt8>?) -> [AskedCallback] {
        let asked = callbacks(in: step)
        let answered = next.map(callbacks(in:)) ?? []
        return asked.prefix(most).enumerated().map { index, callback in
            let same = answered.indices.contains(index) ? answered[index] : nil
            let type = callback["type"]?.text ?? ""
            return AskedCallback(
                type: cut(type, mostAnswer), prompt: prompt(of: callback),
                answer: same.flatMap { $0["type"]?.text == type ? answer(in: $0, to: callback) : nil },
                choices: labels(of: callback).prefix(most).map { cut($0, mostAnswer) })
        }
    }

    private static func callbacks(in body: ArraySlice<UInt8>) -> [JSONValue] {
        (try? JSONValue.member("callbacks", of: Array(body).span))?.items ?? []
    }

    // MARK: prompts

    private static func prompt(of callback: JSONValue) -> String {
        let output = callback["output"]?.items ?? []
        func text(_ name: String) -> String? {
            output.first { $0["name"]?.text == name }?["value"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        }
        return cut(text("prompt") ?? text("message") ?? text("id") ?? "", mostPrompt)
    }

    // MARK: answers

    private static func answer(in callback: JSONValue, to asked: JSONValue) -> String? {
        let labels = self.labels(of: asked)
        let before = asked["input"]?.items ?? []
        var answers: [String] = []
        for (index, input) in (callback["input"]?.items ?? []).prefix(most).enumerated() {
            // it only requests validation
            guard input["name"]?.text?.hasSuffix("validateOnly") != true, let value = input["value"] else { continue }
            let was = before.indices.contains(index) ? before[index]["value"] : nil
            if let text = text(of: value, labels, was: was) { answers.append(cut(text, mostAnswer)) }
        }
        return answers.isEmpty ? nil : answers.joined(separator: ", ")
    }

    private static func text(of value: JSONValue, _ labels: [String], was: JSONValue?) -> String? {
        switch value {
        case .string(let text):
            guard let number = Int(text), labels.indices.contains(number) else { return text.isEmpty ? nil : text }
            return labels[number]
        case .number(let digits):
            guard let number = Int(digits) else { return digits }
            // an unanswered confirmation has a number beyond its labels
            if labels.isEmpty { return value == was && number == 0 ? nil : digits }
            return labels.indices.contains(number) ? labels[number] : nil
        case .bool(let isTrue): return value == was && !isTrue ? nil : "\(isTrue)"
        case .null: return nil
        case .array, .object: return value.serialized
        }
    }

    private static func labels(of callback: JSONValue) -> [String] {
        let output = callback["output"]?.items ?? []
        let list = output.first { ["choices", "options"].contains($0["name"]?.text) }?["value"]?.items ?? []
        return list.map { $0.text ?? "" }
    }

    static func cut(_ text: String, _ most: Int) -> String {
        guard text.unicodeScalars.count > most else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(most))) + "…"
    }
}
