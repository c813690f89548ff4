internal import Formats

/// The ids of transactions in an advice, which prove an approval (docs/protocol.md#advice). Handles challenges and documents in
/// URLs; `json` handles the JSON form.
extension MessageRedactor {
    static let transactionAdvice = Array("TransactionConditionAdvice".utf8)
    /// The parameters that hold a document, the second one for AM's own pages.
    private static let holders = ["authindexvalue", "sunamcompositeadvice"].map { Array($0.utf8) }
    private static let condition = ByteSearch(transactionAdvice)
    private static let conditionEnd = ByteSearch(Array("</AttributeValuePair".utf8))
    private static let valueStart = Array("<Value>".utf8)
    private static let value = ByteSearch(valueStart)
    private static let advicesStart = Array("advices=\"".utf8)
    private static let advices = ByteSearch(advicesStart)
    /// The additional rounds of decoding for a document in a URL.
    private static let maxDecodings = 2

    /// Learns the ids in a document parameter, so that they are replaced everywhere.
    /// - Returns: the new value if the ids are hidden by its encoding; nil otherwise.
    mutating func adviceDocument(_ name: [UInt8], _ value: ArraySlice<UInt8>) -> [UInt8]? {
        guard Self.holders.contains(name.map(ASCII.lower)) else { return nil }
        var text = PercentCoding.decodeBytes(value, plusAsSpace: true)
        var encodings = 1
        while encodings <= Self.maxDecodings, text.first == 0x25 {
            text = PercentCoding.decodeBytes(text, plusAsSpace: true)
            encodings += 1
        }
        if text.first == 0x3C {
            let made = withoutIds(text)
            // with a single encoding the ids are visible words
            return encodings == 1 ? nil : Self.encoded(made, encodings)
        }
        // a `+` that was decoded as in a form is a space
        let letters = String(decoding: text.map { $0 == ASCII.space ? 0x2B : $0 }, as: UTF8.self)
        guard let document = Base64.decode(letters), document.first == 0x3C else { return nil }
        return Self.encoded(Array(Base64.encode(AliasMark.settled(withoutIds(document)[...])).utf8), encodings)
    }

    /// Replaces the values of transaction conditions by aliases.
    private mutating func withoutIds(_ document: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var copied = 0
        var place = 0
        while let name = Self.condition.next(in: document.span, from: place) {
            let end = Self.conditionEnd.next(in: document.span, from: name) ?? document.count
            place = name + Self.transactionAdvice.count
            while let open = Self.value.next(in: document.span, from: place), open < end {
                let start = open + Self.valueStart.count
                let close = document[start...].firstIndex(of: 0x3C) ?? document.count
                out += document[copied..<start]
                put(document[start..<close], .transaction, &out)
                copied = close
                place = close
            }
        }
        return out + document[copied...]
    }

    /// Redacts `SSOADVICE …, advices="…"`, whose JSON is in base64.
    mutating func challenge(_ value: ArraySlice<UInt8>, _ out: inout [UInt8]) {
        let bytes = Array(value)
        guard let place = Self.advices.next(in: bytes.span) else {
            out += nested(Array(value), 0)
            return
        }
        let start = place + Self.advicesStart.count
        let end = bytes[start...].firstIndex(of: 0x22) ?? bytes.count
        guard let text = Base64.decode(String(decoding: bytes[start..<end], as: UTF8.self)),
            let made = json(text, 0)?.bytes
        else {
            out += nested(Array(value), 0)
            return
        }
        out += bytes[..<start]
        out += Base64.encode(AliasMark.settled(made[...])).utf8
        out += bytes[end...]
    }
}
