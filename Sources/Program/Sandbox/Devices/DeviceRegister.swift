internal import Formats

/// The registered second factors and pending pushes, by realm and user.
struct DeviceRegister: Sendable {
    struct Push: Sendable {
        var mechanism: String
        var secret: [UInt8]
    }

    /// A message to a device that waits for an answer.
    struct Message: Sendable {
        var secret: [UInt8]
        var challenge: [UInt8]
        /// Nil for a registration.
        var owner: String?
        /// The number to choose; nil if none is asked for.
        var number: String?
        var answer = Answer.none
    }

    enum Answer: Equatable, Sendable { case none, approved, denied, registered(mechanism: String) }

    /// How long a message may be answered, in seconds.
    static let lifetime = 120

    /// The secret of one-time passwords.
    private struct Codes: Sendable {
        var secret: [UInt8]
        /// True for TOTP, false for HOTP.
        var isTimed: Bool
        /// The last used counter.
        var counter: Int?
    }

    private var codes: [String: Codes] = [:]
    /// How many HOTP codes may be skipped.
    private static let lookAhead = 10
    private var pushes: [String: Push] = [:]
    private var messages = ExpiringTable<Message>(lifetime: Self.lifetime)
    /// The pushes to deliver.
    private var unsent: [[UInt8]] = []
    /// The last used counter of each user for the shared secret.
    private var usedCounters: [String: Int] = [:]

    // MARK: one-time passwords

    func hasCodes(_ owner: String) -> Bool { codes[owner] != nil }

    mutating func registerCodes(_ owner: String, secret: [UInt8], isTimed: Bool) {
        codes[owner] = Codes(secret: secret, isTimed: isTimed)
    }

    /// Accepts a code. Each code is valid once.
    mutating func takes(_ code: String, of owner: String, now: Int) -> Bool {
        guard let known = codes[owner] else { return false }
        let next = (known.counter ?? -1) + 1
        let counter =
            known.isTimed
            ? OneTimePassword.counter(code, known.secret, now: now)
            : (next..<next + Self.lookAhead).first { OneTimePassword.code(known.secret, counter: $0) == code }
        guard let counter, counter >= next else { return false }
        codes[owner]?.counter = counter
        return true
    }

    /// Records a counter of the shared secret. False if it or a later one was used before.
    mutating func isFirst(_ counter: Int, of owner: String) -> Bool {
        guard counter > usedCounters[owner] ?? 0 else { return false }
        usedCounters[owner] = counter
        return true
    }

    // MARK: pushes

    func push(_ owner: String) -> Push? { pushes[owner] }

    mutating func register(_ owner: String, _ push: Push) { pushes[owner] = push }

    /// - Parameter push: the push to deliver; nil if the user transfers the message.
    mutating func send(_ message: Message, id: String, push: [UInt8]? = nil, now: Int) {
        messages.insert(message, id: id, now: now)
        if let push { unsent.append(push) }
    }

    /// Takes the pushes for the push service.
    mutating func takePushes() -> [[UInt8]] {
        defer { unsent = [] }
        return unsent
    }

    func answer(to id: String, now: Int) -> Answer { messages.value(id, now: now)?.answer ?? .none }

    /// Handles a device's answer to a message. Each message accepts one.
    /// - Returns: the reason of a refusal; nil if it is accepted.
    mutating func take(_ id: String, _ token: String, now: Int) -> String? {
        guard var message = messages.value(id, now: now), message.answer == .none else {
            return "no such message is pending"
        }
        guard let claims = SignedToken.decode(token, key: message.secret) else { return "an invalid signature" }
        let response = Base64.encode(Signature.code(message.challenge, key: message.secret))
        guard claims["response"]?.text == response else { return "a wrong response to the challenge" }
        if message.owner == nil {
            guard let mechanism = claims["mechanismUid"]?.text, claims["deviceId"]?.text?.isEmpty == false,
                claims["communicationType"]?.text == "gcm"
            else { return "an incomplete registration" }
            message.answer = .registered(mechanism: mechanism)
        } else if claims["deny"]?.isTrue == true {
            message.answer = .denied
        } else if let number = message.number, claims["challengeResponse"]?.text != number {
            message.answer = .denied
            messages.replace(id, message)
            return "a wrong number"
        } else {
            message.answer = .approved
        }
        messages.replace(id, message)
        return nil
    }
}
