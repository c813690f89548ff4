internal import Formats

/// Replaces aliases by their secrets.
struct AliasFilling {
    /// The encoding at the alias's position.
    enum Coding {
        case plain, percent, json

        /// The encoding for a body of this type.
        init(contentType: String?) {
            let type = ASCII.lowercased(contentType ?? "")
            self =
                type.contains("json")
                ? .json : type.hasPrefix("application/x-www-form-urlencoded") ? .percent : .plain
        }
    }

    /// The secret of an alias; nil to keep the alias.
    let secret: (SecretAlias) -> [UInt8]?

    func filled(_ text: ArraySlice<UInt8>, _ coding: Coding) -> [UInt8] {
        let bytes = Array(text)
        var out: [UInt8] = []
        var end = 0
        for place in AliasScan(bytes).places {
            guard let value = secret(place.alias) else { continue }
            out += AliasEscape.plain(bytes[end..<place.range.lowerBound])
            let encodings = AliasScan.encodings(before: place.range.lowerBound, bytes)
            Self.write(value, coding, encodings, &out)
            end = place.range.upperBound
        }
        return out + AliasEscape.plain(bytes[end...])
    }

    /// - Parameter encodings: how often the surrounding text, itself a value, was encoded.
    private static func write(_ value: [UInt8], _ coding: Coding, _ encodings: Int, _ out: inout [UInt8]) {
        switch coding {
        case .plain: out += value
        case .percent:
            // the secret may have been recorded in encoded form
            let plain = PercentCoding.decodeBytes(value, plusAsSpace: false)
            var text = String(decoding: plain, as: UTF8.self)
            for _ in 0...encodings { text = PercentCoding.encode(text) }
            out += text.utf8
        case .json:
            var text: [UInt8] = []
            JSONValue.writeString(String(decoding: value, as: UTF8.self), to: &text)
            out += text.dropFirst().dropLast()
        }
    }
}

extension PackedFlow {
    /// The flow with its secrets as far as they are stored, and with the clients' original text.
    /// - Parameter secret: returns the secret of an alias.
    public func revealed(_ secret: @escaping (SecretAlias) -> [UInt8]?) -> PackedFlow {
        let filling = AliasFilling(secret: secret)
        var packer = FlowPacker()
        packer.setNumbers(of: self)
        for part in FlowPart.allCases where !isEmpty(part) {
            packer.set(part, part.isCleaned ? filling.filled(self[part], coding(of: part)) : Array(self[part]))
        }
        return PackedFlow(packer.finish()) ?? self
    }

    private func coding(of part: FlowPart) -> AliasFilling.Coding {
        func type(_ head: FlowPart) -> AliasFilling.Coding {
            .init(contentType: FieldLines(self[head]).text("content-type"))
        }
        switch part {
        case .target, .sentURL: return .percent
        case .requestBody: return type(.request)
        case .sentBody: return type(.sent)
        case .answerBody: return type(.answer)
        case .responseBody: return type(.response)
        case .events: return .json
        default: return .plain
        }
    }
}
