internal import Formats
internal import HTTPCodec

/// A registration that a journey offers to a device: the URI in the QR code.
struct DeviceRegistration: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// - Parameter uri: an `otpauth://` URI for one-time passwords.
        case oath(uri: String)
        case push(PushRegistration)
    }

    var kind: Kind
    /// The issuer and account according to AM; labels only.
    var issuer: String
    var account: String

    /// Limit of one URI in bytes; a QR code holds no more.
    private static let longest = 4096

    /// The registrations of a step, each once. A URI that registers both factors counts twice.
    static func find(in step: JSONValue) -> [DeviceRegistration] { uris(in: step).flatMap(registrations) }

    /// The URIs of a step, each once. They are in a hidden value for programs, or in the script that draws the QR code.
    static func uris(in step: JSONValue) -> [String] {
        var uris: [String] = []
        for callback in (step["callbacks"]?.items ?? []).prefix(CallbackStep.maxCallbacks) {
            let names = callback["type"]?.text == "HiddenValueCallback" ? ["value"] : ["message"]
            guard ["HiddenValueCallback", "TextOutputCallback"].contains(callback["type"]?.text ?? "") else { continue }
            for output in callback["output"]?.items ?? [] {
                guard let name = output["name"]?.text, names.contains(name), let text = output["value"]?.text,
                    let uri = uri(in: text), !uris.contains(uri)
                else { continue }
                uris.append(uri)
            }
        }
        return uris
    }

    /// The URI in a text, or between the quotes of a script.
    private static func uri(in text: String) -> String? {
        guard text.utf8.count <= 64 << 10 else { return nil }
        let plain = unescaped(text)
        for scheme in ["otpauth://", "pushauth://", "mfauth://"] {
            guard let start = plain.firstRange(of: scheme)?.lowerBound else { continue }
            let uri = plain[start...].prefix { $0.isASCII && $0 > " " && $0 != "'" && $0 != "\"" && $0 != "\\" }
            return uri.utf8.count <= longest ? String(uri) : nil
        }
        return nil
    }

    /// The text without script escapes: `\x3A`, `\u003A`, `\/`.
    private static func unescaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var out: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard bytes[index] == 0x5C, index + 1 < bytes.count else {
                out.append(bytes[index])
                index += 1
                continue
            }
            let digits = bytes[index + 1] == 0x78 ? 2 : bytes[index + 1] == 0x75 ? 4 : 0
            let hex = bytes[(index + 2)...].prefix(digits).compactMap(ASCII.hexValue)
            let value = hex.reduce(UInt32(0)) { $0 << 4 | UInt32($1) }
            if digits > 0, hex.count == digits, value < 0x80 {
                out.append(UInt8(value))
                index += 2 + digits
            } else {
                out.append(bytes[index + 1])
                index += 2
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    // MARK: one URI

    /// Parses `otpauth://totp/ISSUER:ACCOUNT?…`, `pushauth://push/…`, or `mfauth://totp/…` with the parameters of both.
    private static func registrations(_ uri: String) -> [DeviceRegistration] {
        guard let colon = uri.firstRange(of: "://"), let mark = uri.utf8.firstIndex(of: 0x3F) else { return [] }
        let scheme = uri[..<colon.lowerBound]
        let place = uri[colon.upperBound..<mark].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let query = QueryText(uri[uri.utf8.index(after: mark)...])
        guard place.count == 2 else { return [] }
        let label = PercentCoding.decode(place[1])
        let parts = label.split(separator: ":", maxSplits: 1)
        let account = parts.last.map { String($0.drop { $0 == " " }) } ?? ""
        let issuer = issuer(query["issuer"], scheme) ?? (parts.count == 2 ? String(parts[0]) : "")
        func made(_ kind: Kind) -> DeviceRegistration {
            DeviceRegistration(kind: kind, issuer: issuer, account: account)
        }
        switch scheme {
        case "otpauth": return [made(.oath(uri: uri))]
        case "pushauth": return PushRegistration(query).map { [made(.push($0))] } ?? []
        default:
            let oath = query["secret"].map { _ in made(.oath(uri: "otpauth" + uri[colon.lowerBound...])) }
            return [oath, PushRegistration(query).map { made(.push($0)) }].compactMap(\.self)
        }
    }

    /// Schemes with pushes encode the issuer in base64.
    private static func issuer(_ text: String?, _ scheme: Substring) -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard scheme != "otpauth", let bytes = Base64.decode(text), !bytes.isEmpty else { return text }
        return String(validating: bytes, as: UTF8.self) ?? text
    }
}

/// The endpoints and keys to register for pushes and answer them.
struct PushRegistration: Equatable, Sendable {
    var registerURL: String
    var answerURL: String
    var secret: [UInt8]
    var challenge: [UInt8]
    var messageID: String
    /// The cookie that routes to the waiting AM node: `amlbcookie=01`.
    var affinity: String?

    /// Nil if a required parameter is missing.
    init?(_ query: QueryText) {
        func bytes(_ name: String) -> [UInt8]? {
            query[name].flatMap { Base64.decode($0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        func text(_ name: String) -> String? { bytes(name).flatMap { String(validating: $0, as: UTF8.self) } }
        guard let register = text("r"), let answer = text("a"), let secret = bytes("s"), let challenge = bytes("c"),
            let messageID = query["m"], !messageID.isEmpty
        else { return nil }
        registerURL = register
        answerURL = answer
        self.secret = secret
        self.challenge = challenge
        self.messageID = messageID
        affinity = text("l")
    }
}
