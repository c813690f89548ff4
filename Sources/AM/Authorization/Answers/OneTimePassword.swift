internal import Formats
internal import HTTPCodec
public import TLSEngine

/// A secret for one-time passwords: time-based (TOTP, RFC 6238) or counter-based (HOTP, RFC 4226).
public struct OneTimePassword: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// A new password every `period` seconds.
        case time(period: Int)
        /// - Parameter first: the first counter.
        case counter(first: UInt64)
    }

    public var kind: Kind
    public var hash: MessageCode.Hash
    public var digits: Int
    private var key: [UInt8]

    public static let digitRange = 6...8
    public static let periodRange = 1...3600

    public init(key: [UInt8], kind: Kind, hash: MessageCode.Hash = .sha1, digits: Int = 6) {
        self.key = key
        self.kind = kind
        self.hash = hash
        self.digits = digits
    }

    /// The password of a counter (RFC 4226 §5.3); nil if OpenSSL fails.
    public func code(_ counter: UInt64) -> String? {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * $0)) }
        guard let code = MessageCode.hmac(hash, key: key, message), let last = code.last else { return nil }
        let offset = Int(last & 15)
        guard code.count >= offset + 4 else { return nil }
        let value = code[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let modulus = (0..<digits).reduce(UInt32(1)) { power, _ in power * 10 }
        let text = String(value % modulus)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// A name for the secret that does not reveal it: a digest.
    var name: String {
        let what: String
        switch kind {
        case .time(let period): what = "totp \(period)"
        case .counter: what = "hotp"
        }
        let digest = Digest.sha256(Array("\(what) \(hash.rawValue) \(digits) ".utf8) + key)
        return "\(what) \(Base64.encode(digest.prefix(16), urlSafe: true))"
    }

    /// A part of the key that separates logins. It contains the secret.
    var part: String { "\(kind) \(hash.rawValue) \(digits) \(Base64.encode(key))" }
}

extension OneTimePassword {
    /// The reason why a text is no valid secret. It completes a message "takes …".
    public struct Fault: Error, Equatable, Sendable {
        public let words: String
    }

    /// - Parameter text: the secret in base32, or an `otpauth://` URI as authenticator apps use it. Values of the URI override
    ///   `standard`.
    public init(reading text: String, _ standard: OneTimePassword) throws(Fault) {
        guard text.utf8.starts(with: "otpauth:".utf8) else {
            self = standard
            key = try Self.key(text)
            return
        }
        let isTime = text.hasPrefix("otpauth://totp/")
        guard isTime || text.hasPrefix("otpauth://hotp/") else {
            throw Fault(words: "an otpauth:// URI begins with otpauth://totp/ or otpauth://hotp/")
        }
        switch standard.kind {
        case .time where !isTime: throw Fault(words: "this URI is for hotp")
        case .counter where isTime: throw Fault(words: "this URI is for totp")
        default: break
        }
        guard let mark = text.utf8.firstIndex(of: 0x3F) else { throw Fault(words: "the URI has no secret=") }
        let query = QueryText(text[text.utf8.index(after: mark)...])
        func number(_ name: String, _ range: ClosedRange<Int>) throws(Fault) -> Int? {
            guard let text = query[name] else { return nil }
            guard let number = Int(text), range.contains(number) else {
                throw Fault(words: "\(name) of the URI is a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        guard let secret = query["secret"] else { throw Fault(words: "the URI has no secret=") }
        key = try Self.key(secret)
        digits = try number("digits", Self.digitRange) ?? standard.digits
        hash = standard.hash
        if let name = query["algorithm"] {
            guard let named = MessageCode.Hash(rawValue: ASCII.lowercased(name)) else {
                throw Fault(words: "algorithm of the URI is SHA1, SHA256 or SHA512")
            }
            hash = named
        }
        kind = standard.kind
        switch standard.kind {
        case .time(let period): kind = .time(period: try number("period", Self.periodRange) ?? period)
        case .counter(let first):
            kind = .counter(first: try number("counter", 0...Int(Int32.max)).map { UInt64($0) } ?? first)
        }
    }

    private static func key(_ text: String) throws(Fault) -> [UInt8] {
        guard let key = Base32.decode(text), !key.isEmpty else {
            throw Fault(words: "the secret is not base32, which has the letters and the digits 2 to 7")
        }
        return key
    }
}
