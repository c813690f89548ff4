internal import Declaration
internal import Formats

extension Shape {
    /// The words after "takes" in a message.
    func expectation(withExamples: Bool = true) -> String {
        func such(_ examples: String) -> String { withExamples ? ", such as \(examples)" : "" }
        return switch self {
        case .text(let format), .template(let format): format.expected
        case .orNull(let shape): "\(shape.expectation()), or null"
        case .boolean: "true or false"
        case .either(.boolean, _): "true, false, or keys with values"
        case .integer(let range) where range.count == 1: "\(range.lowerBound)"
        case .integer(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .integerOr(let word, let range): "\(word) or \(Shape.integer(range).expectation())"
        case .duration(let range):
            "a duration from \(Units.duration(range.lowerBound)) to \(Units.duration(range.upperBound))"
                + such("250ms, 5s, 10m or 2h")
        case .size(let range, let orUnlimited) where range.upperBound == Int.max:
            "a size\(withExamples ? " such as 64KiB or 10MB" : "")\(orUnlimited ? ", or unlimited" : "")"
        case .size(let range, let orUnlimited):
            "a size from \(Units.size(range.lowerBound)) to \(Units.size(range.upperBound))"
                + such("64KiB or 10MB") + (orUnlimited ? ", or unlimited" : "")
        case .choice(let names) where names.count == 1: names[0]
        case .choice(let names) where names.count > 20: "one of \(names.count) names, such as \(names[0])"
        case .choice(let names): "one of \(names.joined(separator: ", "))"
        case .either(.choice(let names), let object):
            "\(Shape.choice(names).expectation()), or one of the keys \(object.keys.map(\.name).joined(separator: ", "))"
        case .matcher: "a value or a list of values"
        case .either(let shape, _): shape.expectation(withExamples: withExamples)
        case .secret(.key): "the path of a private key's file, or a reference such as ${credential.NAME}"
        case .secret(.password): "a reference such as ${credential.NAME}"
        case .list, .oneOrMany: "a list"
        case .object, .map: "keys with values"
        case .json: "any value"
        }
    }
}
