internal import Formats
internal import Interception

/// The part of devices in one run through a tree: they register, give one-time passwords and answer pushes. A value without I/O:
/// the caller makes the calls.
struct DeviceAttendance: Sendable {
    /// The work to do before a step is answered.
    enum Work {
        case nothing
        /// Ask AM for the session's user, because each device belongs to a user.
        case needsUser
        case message(DeviceMessage)
    }

    /// The reaction to received pushes.
    enum PushReaction {
        case nothing
        case message(DeviceMessage)
        /// Answer none of them, for this reason.
        case refused(String)
    }

    let devices: [Device]
    private let server: AuthorizationServer
    private let realm: String
    /// Registrations that were handled.
    private var offered: [DeviceRegistration] = []
    /// Devices registered for one-time passwords. They are stored once AM continues, which shows that AM has accepted them.
    private(set) var pending: [KeptDevice] = []
    /// Devices that this run has registered.
    private(set) var registered: [KeptDevice] = []
    /// The user's stored devices, cached since the last step because a wait checks often.
    private var own: [KeptDevice]?
    /// The time of the last call to AM, in milliseconds.
    private var askedAt = 0
    /// AM's last page, if it waits and has no answer yet.
    private var waitingPage: PushInbox.Page?
    private(set) var notes: [String] = []

    /// Limit of registrations in one journey.
    private static let mostOffered = 8
    /// The interval between checks for a push, in milliseconds.
    private static let interval = 100
    /// The default for a page's button: it selects the button that continues.
    private static let button = AuthorizationPolicy.CallbackAnswer(
        callback: "ConfirmationCallback", response: .choose("*"))
    private static let noRoom = "there is no room for more devices (usher devices forget ID)"

    /// - Parameter devices: the devices of this server. The result is nil if there are none.
    init?(_ devices: [Device], _ server: AuthorizationServer, realm: String) {
        guard !devices.isEmpty else { return nil }
        self.devices = devices
        self.server = server
        self.realm = realm
    }

    mutating func takeNotes() -> [String] {
        defer { notes.removeAll() }
        return notes
    }

    // MARK: registering

    /// Inspects a step before it is answered.
    /// - Parameter users: the names of the session's user; nil if AM was not asked.
    mutating func look(at step: JSONValue, users: [String]?, _ now: Circumstances) -> Work {
        own = nil
        guard now.state != nil else { return .nothing }
        guard let users else {
            let asksCode = !codePrompts(in: step).isEmpty && hasKept(now) { !$0.isPush }
            let waits = Self.waits(step) && hasKept(now, \.isPush)
            return offers(in: step).isEmpty && !asksCode && !waits ? .nothing : .needsUser
        }
        return register(from: step, users: users, now)
    }

    /// The registrations offered by a step that were not handled yet.
    func offers(in step: JSONValue) -> [DeviceRegistration] {
        DeviceRegistration.find(in: step).filter { !offered.contains($0) }
    }

    mutating func register(from step: JSONValue, users: [String], _ now: Circumstances) -> Work {
        guard let state = now.state, let user = users.first else { return .nothing }
        for offer in offers(in: step) where offered.count < Self.mostOffered {
            offered.append(offer)
            let place = KeptDevice.Place(server: server.url, realm: realm, user: user)
            switch offer.kind {
            case .oath(let uri):
                guard let device = devices.first(where: { $0.oath && $0.serves(users) }) else { continue }
                let kept = KeptDevice(
                    place, device: device.name, offer, registered: now.seconds, factor: .oath(uri: uri))
                if mayKeep(kept, state, now) { pending.append(kept) }
            case .push(let push):
                guard let device = devices.first(where: { $0.push != nil && $0.serves(users) }) else { continue }
                let factor = KeptDevice.Factor.push(
                    .init(mechanism: UUIDText.random(Self.random(16)), secret: push.secret, url: push.answerURL))
                let kept = KeptDevice(place, device: device.name, offer, registered: now.seconds, factor: factor)
                guard mayKeep(kept, state, now) else { continue }
                do throws(DeviceMessage.Refusal) {
                    let message = try DeviceMessage.registering(push, as: kept, at: server)
                    return .message(message)
                } catch {
                    notes.append("the device \(device.name) is not registered: \(error.words)")
                }
            }
        }
        return .nothing
    }

    /// Whether there is room to store the device. A device that AM accepts but Usher does not store would lock its user out.
    private mutating func mayKeep(_ kept: KeptDevice, _ state: any StateStore, _ now: Circumstances) -> Bool {
        let hasRoom = state.hasRoom(for: kept, beside: now.devices)
        if !hasRoom { notes.append("the device \(kept.device) is not registered: \(Self.noRoom)") }
        return hasRoom
    }

    private static func random(_ count: Int) -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &source) }
    }

    /// Handles AM's response to a message.
    mutating func told(_ message: DeviceMessage, status: Int, _ now: Circumstances) {
        guard status == 200 else {
            return notes.append("AM refused the message of the device \(message.device) (\(status))")
        }
        notes.append(message.words)
        // AM opens a new page for the next push
        waitingPage = nil
        if case .register(let kept) = message.purpose { keep(kept, now) }
    }

    /// Records the time of a call to AM.
    mutating func asks(_ now: Circumstances) { askedAt = now.milliseconds }

    /// Handles AM's next page, or nil at the end of the journey. Stores devices whose registration page is left behind.
    mutating func wentOn(to step: JSONValue?, _ now: Circumstances) {
        if let step, Self.waits(step) {
            waitingPage = waitingPage ?? PushInbox.Page(since: askedAt, began: now.milliseconds)
        } else if let page = waitingPage.take() {
            now.pushes?.change { $0.inbox.withdraw(page) }
        }
        guard !pending.isEmpty else { return }
        let offers = step.map { DeviceRegistration.find(in: $0) } ?? []
        for kept in pending where !offers.contains(where: { $0.kind == kept.registrationKind }) {
            notes.append("the device \(kept.device) is registered for one-time passwords")
            keep(kept, now)
        }
        pending.removeAll { kept in !offers.contains { $0.kind == kept.registrationKind } }
    }

    private mutating func keep(_ kept: KeptDevice, _ now: Circumstances) {
        own = nil
        if now.state?.keep(kept) == true {
            registered.append(kept)
        } else {
            notes.append("it is not kept: \(Self.noRoom)")
        }
    }

    /// Handles AM's names of the user who registered devices in this run.
    mutating func confirm(_ users: [String], _ now: Circumstances) {
        guard let user = users.first else { return }
        for kept in registered where !users.contains(kept.user) {
            now.state?.forget(kept)
            let isServed = devices.contains { $0.name == kept.device && $0.serves(users) }
            if !isServed || now.state?.keep(kept.of(user)) != true {
                notes.append("the device \(kept.device) is not kept: AM says that the user is another one")
            }
        }
        registered = []
        own = nil
    }

    // MARK: one-time passwords

    /// The answers of the devices: those that precede the configured answers, and those that follow them.
    func answers(
        to step: JSONValue, users: [String]?, _ now: Circumstances
    ) -> (before: [AuthorizationPolicy.CallbackAnswer], after: [AuthorizationPolicy.CallbackAnswer]) {
        let users = users ?? []
        let registers = DeviceRegistration.find(in: step).contains { offer in
            pending.contains { $0.registrationKind == offer.kind }
        }
        var before: [AuthorizationPolicy.CallbackAnswer] = []
        let prompts = codePrompts(in: step)
        let kept = prompts.isEmpty || users.isEmpty ? [] : present(users, now)
        for (type, prompt) in prompts {
            guard let password = password(kept, users, prompt: prompt) else { continue }
            before.append(.init(callback: type, prompt: prompt, response: .oneTime(password)))
        }
        return (before, registers || !before.isEmpty ? [Self.button] : [])
    }

    /// The callbacks whose prompt asks for a one-time password, according to the devices' globs.
    private func codePrompts(in step: JSONValue) -> [(type: String, prompt: String)] {
        (step["callbacks"]?.items ?? []).prefix(CallbackStep.maxCallbacks).map(Callback.init).compactMap { callback in
            asksCode(callback) ? (callback.type, callback.prompt) : nil
        }
    }

    func asksCode(_ callback: Callback) -> Bool {
        ["NameCallback", "PasswordCallback"].contains(callback.type)
            && devices.contains { $0.oath && Self.asks(callback.prompt, $0) }
    }

    private static func asks(_ prompt: String, _ device: Device) -> Bool {
        device.prompts.contains { Glob.matches($0, prompt, ignoringCase: true) }
    }

    /// The one-time password of the device registered last.
    private func password(_ present: [KeptDevice], _ users: [String], prompt: String) -> OneTimePassword? {
        for kept in present {
            guard let device = devices.first(where: { $0.name == kept.device && $0.oath && $0.serves(users) }),
                Self.asks(prompt, device), let password = kept.oneTimePassword
            else { continue }
            return password
        }
        return nil
    }

    // MARK: pushes

    /// The longest pause before the next check for a push, in milliseconds.
    func slice(_ milliseconds: Int) -> Int {
        devices.contains { $0.push == .approve || $0.push == .deny } ? min(milliseconds, Self.interval) : milliseconds
    }

    /// True if a push has arrived and a stored device here receives pushes.
    func hasPush(_ now: Circumstances) -> Bool {
        now.pushes?.change { $0.inbox.isEmpty } == false && hasKept(now, \.isPush)
    }

    /// The answer to the push that AM's page caused, once the device's delay has passed.
    /// - Parameter shown: the number that the page shows.
    mutating func pushAnswer(_ shown: String?, users: [String], _ now: Circumstances) -> PushReaction {
        guard let page = waitingPage, let pushes = now.pushes else { return .nothing }
        let present = own ?? present(users, now)
        own = present
        for kept in present where kept.isPush {
            guard let device = devices.first(where: { $0.name == kept.device && $0.serves(users) }),
                let decision = device.push, decision != .ignore
            else { continue }
            let claim = pushes.change {
                $0.inbox.claim(kept.id, for: page, shown, after: device.delay, now: now.milliseconds)
            }
            let claimed: PushMessage
            switch claim {
            case .none: continue
            case .push(let message): claimed = message
            case .refused(let count):
                waitingPage = nil
                return .refused(
                    "\(count) pushes wait for the device \(kept.device), and nothing tells which one AM's page caused: none is answered"
                )
            }
            waitingPage = nil
            var number = claimed.numbers.isEmpty ? nil : shown
            if device.number == .wrong { number = claimed.numbers.first { $0 != shown } ?? number }
            do throws(DeviceMessage.Refusal) {
                return .message(
                    try DeviceMessage.answering(
                        claimed, of: kept, approves: decision == .approve,
                        number: decision == .approve ? number : nil, at: server))
            } catch {
                notes.append("the device \(kept.device) does not answer: \(error.words)")
            }
        }
        return .nothing
    }

    /// The number that the page tells the user to select on the device.
    static func shownNumber(in step: JSONValue) -> String? {
        for json in (step["callbacks"]?.items ?? []).prefix(CallbackStep.maxCallbacks) {
            let callback = Callback(json)
            guard callback.type == "HiddenValueCallback", callback.output("id")?.text == "pushChallengeNumber",
                let value = callback.output("value")
            else { continue }
            return value.text ?? value.integer.map { String($0) }
        }
        return nil
    }

    static func waits(_ step: JSONValue) -> Bool {
        (step["callbacks"]?.items ?? []).contains { $0["type"]?.text == "PollingWaitCallback" }
    }

    // MARK: stored devices

    private func hasKept(_ now: Circumstances, _ fits: (KeptDevice) -> Bool) -> Bool {
        now.devices.contains { fits($0) && isHere($0) }
    }

    /// The user's devices of this server and realm, newest first.
    func present(_ users: [String], _ now: Circumstances) -> [KeptDevice] {
        now.devices.filter { isHere($0) && users.contains($0.user) }
    }

    private func isHere(_ kept: KeptDevice) -> Bool { kept.server == server.url && kept.realm == realm }
}

extension KeptDevice {
    var registrationKind: DeviceRegistration.Kind? { if case .oath(let uri) = factor { .oath(uri: uri) } else { nil } }

    /// Nil for a push device and for an unusable URI.
    var oneTimePassword: OneTimePassword? {
        guard case .oath(let uri) = factor else { return nil }
        let kind: OneTimePassword.Kind = uri.hasPrefix("otpauth://hotp/") ? .counter(first: 0) : .time(period: 30)
        return try? OneTimePassword(reading: uri, OneTimePassword(key: [], kind: kind))
    }
}
