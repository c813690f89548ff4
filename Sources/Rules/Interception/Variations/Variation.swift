/// The forms that a seed selects.
struct Variation: Sendable {
    enum NameCase: CaseIterable { case kept, lower, upper }
    enum Alphabet: CaseIterable { case padded, unpadded, urlSafe }
    enum Companion: CaseIterable { case none, before, behind, line }
    enum Gap: CaseIterable { case none, spaces, lines }

    /// The case of header names.
    let names: NameCase

    // the challenge
    /// By how many places the parameters rotate.
    let turn: Int
    let separators: (comma: String, equals: String)
    let endsWithComma: Bool
    let scheme: String
    let companion: Companion
    let alphabet: Alphabet
    let qualifiesTrees: Bool
    let addsAdvice: Bool

    // JSON
    let gap: Gap
    let isReversed: Bool
    let escapesSlashes: Bool
    let addsMembers: Bool
    var addsCallback: Bool

    /// The size of the chunks of a body; nil for a body with a length.
    let chunk: Int?

    init(seed: Int) {
        var chance = Chance(seed: UInt64(bitPattern: Int64(seed)))
        func one<Value>(_ values: [Value], otherwise standard: Value) -> Value {
            values.randomElement(using: &chance) ?? standard
        }
        func yes() -> Bool { Bool.random(using: &chance) }
        names = one(NameCase.allCases, otherwise: .kept)
        turn = Int.random(in: 0..<3, using: &chance)
        separators = (one([",", ", ", " ,\t", ",,"], otherwise: ","), one(["=", " = "], otherwise: "="))
        endsWithComma = yes()
        scheme = one([HeadAdvice.scheme, "SsoAdvice", "ssoadvice"], otherwise: HeadAdvice.scheme)
        companion = one(Companion.allCases, otherwise: .none)
        alphabet = one(Alphabet.allCases, otherwise: .padded)
        qualifiesTrees = yes()
        addsAdvice = yes()
        gap = one(Gap.allCases, otherwise: .none)
        isReversed = yes()
        escapesSlashes = yes()
        addsMembers = yes()
        addsCallback = yes()
        chunk = one([nil, 1, 7, 64], otherwise: nil)
    }

    /// What differs from AM's own form.
    var words: [String] {
        let all: [(isChosen: Bool, words: String)] = [
            (names != .kept, "header names in \(names) case"), (turn > 0, "another order of parameters"),
            (separators != (",", "="), "white space between parameters"), (endsWithComma, "a comma at the end"),
            (scheme != HeadAdvice.scheme, "the scheme as \(scheme)"), (companion != .none, "another challenge"),
            (alphabet == .unpadded, "base64 without padding"), (alphabet == .urlSafe, "base64url"),
            (qualifiesTrees, "realms before trees"), (addsAdvice, "several advices"),
            (gap != .none, "white space in JSON"), (isReversed, "another order of members"),
            (escapesSlashes, "escaped slashes"), (addsMembers, "unknown members"),
            (addsCallback, "another callback"), (chunk != nil, "chunks of \(chunk ?? 0) bytes"),
        ]
        return all.filter(\.isChosen).map(\.words)
    }
}
