internal import Formats
internal import TLSEngine

/// A delivered push with a valid signature of its device.
public struct PushMessage: Equatable, Sendable {
    /// The id of the device (`KeptDevice.id`).
    public let device: String
    let messageID: String
    let challenge: [UInt8]
    /// The numbers offered by a number challenge.
    let numbers: [String]
    let affinity: String?
    /// The seconds left to answer it.
    let lifetime: Int
    /// The seconds to remember it, until it can no longer be accepted.
    let memory: Int
    /// A digest of the signed part, which identifies the push.
    let fingerprint: [UInt8]
    /// True if it asks for a fingerprint or a face. The answer is the same.
    let isBiometric: Bool

    private static let standardLifetime = 120
    /// The limit in seconds; AM's values are far below.
    private static let longestLifetime = 3600
    /// The allowed difference of AM's clock, in seconds.
    static let clockTolerance = 300
    /// How long to remember a push without a time of issue, in seconds.
    private static let standardMemory = 86_400

    /// The reason for a rejected delivery.
    public enum Refusal: Error, Equatable, Sendable {
        /// It is not a push, for this reason.
        case unreadable(String)
        /// No device with this mechanism id is registered.
        case unknownDevice
        case wrongSignature
        /// It is expired, or its time is in the future.
        case untimely
    }

    /// - Parameters:
    /// - body: JSON as push services relay it, with `messageId` and `message` side by side or in `data`, or `aps` with
    ///   `messageId` and `data`.
    /// - now: in seconds since 1970.
    /// - device: finds the device by mechanism id. Called only if the body looks like a push.
    public init(
        delivered body: [UInt8], at now: Int, to device: (_ mechanism: String) -> KeptDevice?
    ) throws(Refusal) {
        guard let json = try? JSONValue(parsing: body), json.members != nil else {
            throw .unreadable("it is not a JSON object")
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

    /// The time of issue in seconds. AM writes milliseconds.
    private static func issued(_ claim: JSONValue?) -> Int? {
        (claim?.integer ?? claim?.text.flatMap { Int($0) }).map { $0 / 1000 }
    }
}
