internal import Formats

/// A push as it was delivered, whose signature is its device's.
public struct PushMessage: Equatable, Sendable {
    /// Of the device that it is for (`KeptDevice.id`).
    public let device: String
    let messageID: String
    let challenge: [UInt8]
    /// The numbers of a number challenge.
    let numbers: [String]
    let affinity: String?
    /// Seconds for which it may be answered.
    let lifetime: Int
    /// It asks for a fingerprint or a face, which a person would show; the answer is the same.
    let isBiometric: Bool

    private static let standardLifetime = 120
    /// Those of AM are far below.
    private static let longestLifetime = 3600

    /// Why a delivery is not taken.
    public enum Refusal: Error, Equatable, Sendable {
        /// It is no push, in words.
        case unreadable(String)
        /// No device of that name was registered here.
        case unknownDevice
        case wrongSignature
    }

    /// - Parameter body: JSON with the message's id and its token, as push services hand them on: `messageId` and `message`,
    ///   beside each other or within `data`; or `aps` with `messageId` and `data`.
    public init(delivered body: [UInt8], to devices: [KeptDevice]) throws(Refusal) {
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
        guard
            let (device, push) = devices.lazy.compactMap({ kept in kept.push.map { (kept, $0) } })
                .first(where: { $0.1.mechanism == mechanism })
        else { throw .unknownDevice }
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
        self.lifetime = min(max(lifetime, 1), Self.longestLifetime)
    }
}
