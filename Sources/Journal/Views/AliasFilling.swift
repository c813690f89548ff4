internal import Formats

/// Puts secrets back where their aliases stand.
struct AliasFilling {
    /// How a secret is written where it stands.
    enum Coding {
        case plain, percent, json

        /// Of a body of that type.
        init(contentType: String?) {
            let type = ASCII.lowercased(contentType ?? "")
            self =
                type.contains("json")
                ? .json : type.hasPrefix("application/x-www-form-urlencoded") ? .percent : .plain
        }
    }

    /// What an alias stands for; nil where it stays.
    let secret: (SecretAlias) -> [UInt8]?

    func filled(_ text: ArraySlice<UInt8>, _ coding: Coding) -> [UInt8] {
        let bytes = Array(text)
        var out: [UInt8] = []
        var end = 0
        for place in AliasScan(bytes).places {
            guard let value = secret(place.alias) else { continue }
            out += bytes[end..<place.range.lowerBound]
            Self.write(value, coding, &out)
            end = place.range.upperBound
        }
        return out + bytes[end...]
    }

    private static func write(_ value: [UInt8], _ coding: Coding, _ out: inout [UInt8]) {
        switch coding {
        case .plain: out += value
        case .percent:
            // it may have been met in that form
            let plain = PercentCoding.decodeBytes(value, plusAsSpace: false)
            out += PercentCoding.encode(String(decoding: plain, as: UTF8.self)).utf8
        case .json:
            var text: [UInt8] = []
            JSONValue.writeString(String(decoding: value, as: UTF8.self), to: &text)
            out += text.dropFirst().dropLast()
        }
    }
}

extension PackedFlow {
    /// The same with its secrets, as far as they are held.
    /// - Parameter secret: what an alias stands for; it is asked for those alone that took a secret's place in this flow.
    public func revealed(_ secret: @escaping (SecretAlias) -> [UInt8]?) -> PackedFlow {
        guard !isEmpty(.aliases) else { return self }
        let filling = AliasFilling(secret: own(secret))
        var packer = FlowPacker()
        packer.setNumbers(of: self)
        for part in FlowPart.allCases where !isEmpty(part) {
            packer.set(part, part == .aliases ? Array(self[part]) : filling.filled(self[part], coding(of: part)))
        }
        return PackedFlow(packer.finish()) ?? self
    }

    /// Of those alone that took a secret's place here: a client may write any other, to have it filled in.
    func own(_ secret: @escaping (SecretAlias) -> [UInt8]?) -> (SecretAlias) -> [UInt8]? {
        let held = Set(AliasScan(self[.aliases]).places.map(\.alias))
        return { held.contains($0) ? secret($0) : nil }
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
