/// Makes DNS messages for tests, well-formed or not (RFC 1035 §4.1).
struct DNSMessage {
    var bytes: [UInt8]

    /// - Parameters:
    ///   - flags: the two bytes of flags; by default a response to a recursive question, with success.
    ///   - question: a name in text, and its type.
    init(flags: UInt16 = 0x8180, question: String = "a.test", type: UInt16 = 1, questions: UInt16 = 1, answers: UInt16)
    {
        bytes = Self.words([0x1234, flags, questions, answers, 0, 0])
        guard questions > 0 else { return }
        bytes += Self.name(question) + Self.words([type, 1])
    }

    /// - Parameter owner: a name in wire form; by default a pointer to the question's.
    mutating func record(
        _ data: [UInt8], type: UInt16 = 1, life: UInt32 = 300, owner: [UInt8] = [0xC0, 12], family: UInt16 = 1
    ) {
        bytes +=
            owner + Self.words([type, family, UInt16(life >> 16), UInt16(life & 0xFFFF), UInt16(data.count)]) + data
    }

    static func words(_ words: [UInt16]) -> [UInt8] { words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }

    static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    /// As `DNSAnswer` tells a name: without the root.
    static func labels(_ text: String) -> [UInt8] { Array(name(text).dropLast()) }
}
