internal import Formats

/// A recorded text with aliases, to compare with another text and to fill in.
public struct AliasPattern: Sendable {
    /// The text before each alias, and the text after the last one.
    private var texts: [[UInt8]] = []
    private var gaps: [(alias: SecretAlias, encodings: Int)] = []
    private let written: [UInt8]

    public init(_ text: some Collection<UInt8>) {
        written = Array(text)
        var end = 0
        for place in AliasScan(written).places {
            texts.append(Array(AliasEscape.plain(written[end..<place.range.lowerBound])))
            gaps.append((place.alias, AliasScan.encodings(before: place.range.lowerBound, written)))
            end = place.range.upperBound
        }
        texts.append(Array(AliasEscape.plain(written[end...])))
    }

    public var aliases: [SecretAlias] { gaps.map(\.alias) }

    /// The values in the places of the aliases; nil if the other text differs elsewhere.
    public func values(in text: String) -> [(alias: SecretAlias, value: String)]? {
        var rest = Array(text.utf8)[...]
        guard rest.starts(with: texts[0]) else { return nil }
        rest = rest.dropFirst(texts[0].count)
        var values: [(SecretAlias, String)] = []
        for (index, gap) in gaps.enumerated() {
            let after = texts[index + 1]
            let isLast = index == gaps.count - 1
            var end = rest.endIndex
            if isLast {
                guard rest.count >= after.count, rest.suffix(after.count).elementsEqual(after) else { return nil }
                end -= after.count
            } else if after.isEmpty {
                end = rest.startIndex
            } else if let found = ByteSearch(after).next(in: rest.span) {
                end = rest.startIndex + found
            } else {
                return nil
            }
            var value = String(decoding: rest[..<end], as: UTF8.self)
            for _ in 0..<gap.encodings { value = PercentCoding.decode(value) }
            values.append((gap.alias, value))
            rest = rest[(end + after.count)...]
        }
        return rest.isEmpty ? values : nil
    }

    /// The encoding of the text around the aliases.
    public enum Coding { case plain, percent }

    /// The text with a value for each alias; an alias without one stays.
    public func filled(_ coding: Coding, _ value: @escaping (SecretAlias) -> String?) -> String {
        let filling = AliasFilling { value($0).map { Array($0.utf8) } }
        return String(decoding: filling.filled(written[...], coding == .plain ? .plain : .percent), as: UTF8.self)
    }
}

/// Gives the aliases of texts the lowest numbers, in the order in which they come.
public struct AliasNumbering {
    private var aliases: [SecretAlias: SecretAlias] = [:]
    private var counts: [SecretKind: UInt32] = [:]

    public init() {}

    public mutating func numbered(_ text: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(text)
        var out: [UInt8] = []
        var end = 0
        for place in AliasScan(bytes).places {
            out += bytes[end..<place.range.lowerBound]
            out += numbered(place.alias).text.utf8
            end = place.range.upperBound
        }
        return out + bytes[end...]
    }

    private mutating func numbered(_ alias: SecretAlias) -> SecretAlias {
        if let known = aliases[alias] { return known }
        counts[alias.kind, default: 0] += 1
        let new = SecretAlias(alias.kind, counts[alias.kind, default: 0])
        aliases[alias] = new
        return new
    }
}

extension SecretAlias {
    /// Reads an alias as it is written, such as `session#3`.
    public init?(_ text: String) {
        let places = AliasScan(text.utf8).places
        guard places.count == 1, places[0].range == 0..<text.utf8.count else { return nil }
        self = places[0].alias
    }
}
