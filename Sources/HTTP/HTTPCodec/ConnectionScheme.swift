import Formats

/// Schemes that authenticate a connection with all that comes on it, against the rule that each request stands for itself
/// (RFC 9110 §3.3): RFC 4559 and its kin.
private enum ConnectionScheme {
    static let names: [StaticString] = ["negotiate", "ntlm", "kerberos", "nego2", "credssp"]
}

extension FieldTable {
    /// The request proves its sender to the connection, not for itself alone.
    public var hasConnectionCredentials: Bool {
        guard mayHold(.authorization) else { return false }
        for index in slots.indices where slots[index].known == .authorization && namesConnectionScheme(index) {
            return true
        }
        return false
    }

    /// Whether the response asks for a proof of the connection's user, or confirms one.
    public var hasConnectionChallenge: Bool {
        guard mayHold(.wwwAuthenticate) || mayHold(.proxyAuthenticate) || mayHold(.persistentAuth) else { return false }
        for index in slots.indices {
            switch slots[index].known {
            case .wwwAuthenticate, .proxyAuthenticate: if namesConnectionScheme(index) { return true }
            case .persistentAuth: return true
            default: break
            }
        }
        return false
    }

    /// Whether a word where a scheme may stand is one of these. A quoted parameter that looks like one counts, too; the
    /// only effect is that fewer clients share the connection.
    private func namesConnectionScheme(_ index: Int) -> Bool {
        let value = slots[index].value
        var position = value.lower
        while position < value.upper {
            while position < value.upper, !ASCII.isToken(bytes[position]) { position += 1 }
            let start = position
            while position < value.upper, ASCII.isToken(bytes[position]) { position += 1 }
            if ConnectionScheme.names.contains(where: { isWord(start, position, $0) }) { return true }
            while position < value.upper, bytes[position] != 0x2C { position += 1 }
        }
        return false
    }

    private func isWord(_ start: Int, _ end: Int, _ word: StaticString) -> Bool {
        guard end - start == word.utf8CodeUnitCount else { return false }
        for offset in 0..<word.utf8CodeUnitCount
        where ASCII.lower(bytes[start + offset]) != word.utf8Start[offset] {
            return false
        }
        return true
    }
}
