internal import Formats

/// One callback as data: its output and inputs.
struct Question: Equatable, Sendable {
    /// The type of an input.
    enum Kind: Equatable, Sendable {
        case text, number, boolean
        /// An index below this count, as a number or string.
        case index(Int)
    }

    /// One entry of a callback's `input`, named `IDToken<n>` and this suffix.
    struct Input: Equatable, Sendable {
        var suffix = ""
        var initial = JSONValue.string("")
        var kind = Kind.text

        static let text = Input()
        static let flag = Input(initial: .bool(false), kind: .boolean)
        static let number = Input(initial: .integer(0), kind: .number)
        static let validateOnly = Input(suffix: "validateOnly", initial: .bool(false), kind: .boolean)

        static func index(of count: Int, initially index: Int) -> Input {
            Input(initial: .integer(index), kind: .index(count))
        }
    }

    var type: String
    var output: [JSONValue.Member]
    var inputs: [Input]

    init(_ type: String, _ output: KeyValuePairs<String, JSONValue>, inputs: [Input] = []) {
        self.type = type
        self.output = output.map { .init($0.key, $0.value) }
        self.inputs = inputs
    }

    /// The callback as JSON.
    /// - Parameter index: the index on the page, from 0; input names count from 1.
    func callback(_ index: Int) -> JSONValue {
        func entry(_ name: String, _ value: JSONValue) -> JSONValue {
            ["name": .string(name), "value": value]
        }
        var callback: JSONValue = ["type": .string(type), "output": .array(output.map { entry($0.name, $0.value) })]
        if !inputs.isEmpty {
            callback["input"] = .array(inputs.map { entry("IDToken\(index + 1)\($0.suffix)", $0.initial) })
        }
        callback["_id"] = .integer(index)
        return callback
    }

    /// The values of a returned callback, one for each input; nil if it does not match the question.
    func answer(in callback: JSONValue?, _ index: Int) -> [JSONValue]? {
        guard let callback, callback["type"]?.text == type else { return nil }
        guard !inputs.isEmpty else { return [] }
        guard let entries = callback["input"]?.items, entries.count == inputs.count else { return nil }
        var values: [JSONValue] = []
        for (input, entry) in zip(inputs, entries) {
            guard entry["name"]?.text == "IDToken\(index + 1)\(input.suffix)",
                let value = entry["value"].flatMap(input.accepted)
            else { return nil }
            values.append(value)
        }
        return values
    }
}

extension Question.Input {
    /// The value in its own type; nil for another type.
    fileprivate func accepted(_ value: JSONValue) -> JSONValue? {
        switch kind {
        case .text: return value.text.map { .string($0) }
        case .number: return value.integer.map { .integer($0) }
        case .boolean: return if case .bool = value { value } else { nil }
        case .index(let count):
            guard let index = value.integer ?? value.text.flatMap({ Int($0) }), 0..<count ~= index else { return nil }
            return .integer(index)
        }
    }
}

/// The answers of one page: for each question, the values of its inputs.
struct Answers: Sendable {
    private let values: [[JSONValue]]

    init(_ values: [[JSONValue]]) { self.values = values }

    func value(_ question: Int, _ input: Int = 0) -> JSONValue {
        values.indices.contains(question) && values[question].indices.contains(input) ? values[question][input] : .null
    }

    func text(_ question: Int, _ input: Int = 0) -> String { value(question, input).text ?? "" }
    func index(_ question: Int) -> Int { value(question, 0).integer ?? 0 }
    func isTrue(_ question: Int, _ input: Int = 0) -> Bool { value(question, input).isTrue }
}
