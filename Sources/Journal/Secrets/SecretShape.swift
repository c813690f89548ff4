internal import Formats

/// Secrets that show by their form what they are, wherever they stand.
enum SecretShape {
    /// The shortest JWT that is looked at has a header and something behind it.
    private static let shortestToken = 20
    private static let shortestSession = 32

    /// What begins at a place and is a JWT or a session of AM's, and how many bytes it has.
    static func find(in bytes: [UInt8], at start: Int) -> (kind: SecretKind, count: Int)? {
        switch bytes[start] {
        case 0x65 where bytes[start...].starts(with: "eyJ".utf8): return token(bytes, start)
        case 0x41 where bytes[start...].starts(with: "AQIC".utf8): return session(bytes, start)
        default: return nil
        }
    }

    /// RFC 7515 §3.1 and RFC 7516 §3.1: three or five parts of base64url; and what somebody cut of one.
    private static func token(_ bytes: [UInt8], _ start: Int) -> (kind: SecretKind, count: Int)? {
        var end = start
        var dots = 0
        while end < bytes.count, isBase64URL(bytes[end]) || bytes[end] == 0x2E {
            if bytes[end] == 0x2E { dots += 1 }
            end += 1
        }
        return dots >= 1 && end - start >= shortestToken ? (.token, end - start) : nil
    }

    /// `AQIC…*AAJTSQ…*`, stateless or not, encoded or not.
    private static func session(_ bytes: [UInt8], _ start: Int) -> (kind: SecretKind, count: Int)? {
        var end = start
        while end < bytes.count, isBase64URL(bytes[end]) || [0x2E, 0x2A, 0x25].contains(bytes[end]) { end += 1 }
        return end - start >= shortestSession ? (.session, end - start) : nil
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }
}
