internal import Formats
internal import TLSEngine

/// A push as it was delivered, whose signature is its device's.
public struct PushMessage: Equatable, Sendable {
    /// Of the device that it is for (`KeptDevice.id`).
    public let device: String
    let messageID: String
    let challenge: [UInt8]
    /// The numbers of a number challenge.
    let numbers: [String]
    let affinity: String?
    /// Seconds for which it may be answered yet.
    let lifetime: Int
    /// Seconds for which it is known again: so long as somebody might take it.
    let memory: Int
    /// Tells it from others: a digest of what is signed.
    let fingerprint: [UInt8]
    /// It asks for a fingerprint or a face, which a person would show; the answer is the same.
    let isBiometric: Bool

    private static let standardLifetime = 120
    /// Those of AM are far below.
    private static let longestLifetime = 3600
    /// Seconds that AM's clock may differ.
    static let clockTolerance = 300
    /// Seconds; of those that do not say when they were made.
    private static let standardMemory = 86_400

    /// Why a delivery is not taken.
    public enum Refusal: Error, Equatable, Sendable {
        /// It is no push, in words.
        case unreadable(String)
        /// No device of that name was registered here.
        case unknownDevice
        case wrongSignature
        /// It was made too long ago, or at a time that is still to come.
        case untimely
    }

    /// - Parameters:
    ///   - body: JSON with the message's id and its token, as push services hand them on: `messageId` and `message`,
    ///   beside each other or within `data`; or `aps` with `messageId` and `data`.
    ///   - now: in seconds since 1970.
    ///   - device: finds the device that pushes name so; asked for what looks like a push alone.
    public init(
        delivered body: [UInt8], at now: Int, to device: (_ mechanism: String) -> KeptDevice?
    ) throws(Refusal) {
        guard let json = try? JSONValue(parsing: body), json.members != nil else {
            throw .unreadable("it is no JSON object")
        }
        let places = [json, json["data"], json["aps"]].compactMap(\.self)
        func first(_ names: [String]) -> String? {
            places.lazy.flatMap { place in names.lazy.compactMap { place[$0]?.text } }.first { !$0.isEmpty }
        }
        guard let id = first(["messageId"]), id.utf8.count <= 256 else { throw .unreadable("it has no messageId") }
        guard let token = first(["message", "data", "jwt"]), let claims = SignedClaims.unverified(token) else {
            throw .unreadable("it has no message, which is a JWT")
        }
        guard let mechanism = claims["u"]?.text else { throw .unreadable("its message names no device (u)") }
        guard let device = device(mechanism), let push = device.push else { throw .unknownDevice }
        guard SignedClaims.isSigned(token, key: push.secret) else { throw .wrongSignature }
        guard let challenge = claims["c"]?.text.flatMap({ Base64.decode($0) }), !challenge.isEmpty else {
            throw .unreadable("its message has no challenge (c)")
        }
        self.device = device.id
        messageID = id
        self.challenge = challenge
        let kind = claims["k"]?.text ?? "default"
        isBiometric = kind == "biometric"
        let listed = claims["n"]?.text ?? claims["n"]?.items?.map { $0.text ?? $0.serialized }.joined(separator: ",")
        let numbers = (listed ?? "").split(separator: ",").prefix(16).map { number in
            String(number.filter { $0 != " " })
        }
        guard kind != "challenge" || !numbers.isEmpty else { throw .unreadable("it offers no numbers (n)") }
        self.numbers = kind == "challenge" ? numbers : []
        affinity = claims["l"]?.text.flatMap { Base64.decode($0) }.flatMap { String(validating: $0, as: UTF8.self) }
        let told = claims["t"]
        let lifetime = told?.integer ?? told?.text.flatMap { Int($0) } ?? Self.standardLifetime
        let whole = min(max(lifetime, 1), Self.longestLifetime)
        let signed = token.utf8.lastIndex(of: 0x2E).map { token.utf8[..<$0] }
        fingerprint = Digest.sha256(Array(signed ?? token.utf8[...]))
        guard let issued = Self.issued(claims["i"]) else {
            (self.lifetime, memory) = (whole, Self.standardMemory)
            return
        }
        let (age, overflows) = now.subtractingReportingOverflow(issued)
        guard !overflows, age >= -Self.clockTolerance, age < whole + Self.clockTolerance else { throw .untimely }
        memory = whole + Self.clockTolerance - age
        self.lifetime = min(whole, memory)
    }

    /// Milliseconds, as AM writes them; in seconds.
    private static func issued(_ claim: JSONValue?) -> Int? {
        (claim?.integer ?? claim?.text.flatMap { Int($0) }).map { $0 / 1000 }
    }
}
