internal import Formats

/// The second factors that users of the sandbox have registered, and the pushes that are under way. By realm and user.
struct DeviceRegister: Sendable {
    struct Push: Sendable {
        var mechanism: String
        var secret: [UInt8]
    }

    /// A message to a device that waits for its answer.
    struct Message: Sendable {
        var secret: [UInt8]
        var challenge: [UInt8]
        /// Nil where a device is being registered.
        var owner: String?
        /// The number to choose; nil where none is asked for.
        var number: String?
        var answer = Answer.none
    }

    enum Answer: Equatable, Sendable { case none, approved, denied, registered(mechanism: String) }

    /// Seconds for which a message may be answered.
    static let lifetime = 120

    /// What one-time passwords are made of.
    private struct Codes: Sendable {
        var secret: [UInt8]
        /// By the clock, or one after another.
        var isTimed: Bool
        /// Of the newest one that was used.
        var counter: Int?
    }

    private var codes: [String: Codes] = [:]
    /// How many codes in a row may have gone astray.
    private static let lookAhead = 10
    private var pushes: [String: Push] = [:]
    private var messages = ExpiringTable<Message>(lifetime: Self.lifetime)
    /// What is to be delivered.
    private var unsent: [[UInt8]] = []
    /// The newest one-time password of each user that was made with the secret of all, by its counter.
    private var usedCounters: [String: Int] = [:]

    // MARK: one-time passwords

    func hasCodes(_ owner: String) -> Bool { codes[owner] != nil }

    mutating func registerCodes(_ owner: String, secret: [UInt8], isTimed: Bool) {
        codes[owner] = Codes(secret: secret, isTimed: isTimed)
    }

    /// Each code is good once.
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

    /// Whether a counter of the secret of all comes for the first time, and none behind it came before.
    mutating func isFirst(_ counter: Int, of owner: String) -> Bool {
        guard counter > usedCounters[owner] ?? 0 else { return false }
        usedCounters[owner] = counter
        return true
    }

    // MARK: pushes

    func push(_ owner: String) -> Push? { pushes[owner] }

    mutating func register(_ owner: String, _ push: Push) { pushes[owner] = push }

    /// - Parameter push: what is delivered to the device; nil where the user shows it the message.
    mutating func send(_ message: Message, id: String, push: [UInt8]? = nil, now: Int) {
        messages.insert(message, id: id, now: now)
        if let push { unsent.append(push) }
    }

    /// What a push service would get by now.
    mutating func takePushes() -> [[UInt8]] {
        defer { unsent = [] }
        return unsent
    }

    func answer(to id: String, now: Int) -> Answer { messages.value(id, now: now)?.answer ?? .none }

    /// What a device says. Once only.
    /// - Returns: why it does not count; nil where it does.
    mutating func take(_ id: String, _ token: String, now: Int) -> String? {
        guard var message = messages.value(id, now: now), message.answer == .none else {
            return "no such message waits"
        }
        guard let claims = SignedToken.decode(token, key: message.secret) else { return "a bad signature" }
        let response = Base64.encode(Signature.code(message.challenge, key: message.secret))
        guard claims["response"]?.text == response else { return "a wrong response to the challenge" }
        if message.owner == nil {
            guard let mechanism = claims["mechanismUid"]?.text, claims["deviceId"]?.text?.isEmpty == false,
                claims["communicationType"]?.text == "gcm"
            else { return "a registration that says too little" }
            message.answer = .registered(mechanism: mechanism)
        } else if claims["deny"]?.isTrue == true {
            message.answer = .denied
        } else if let number = message.number, claims["challengeResponse"]?.text != number {
            message.answer = .denied
            messages.replace(id, message)
            return "another number"
        } else {
            message.answer = .approved
        }
        messages.replace(id, message)
        return nil
    }
}
