internal import Formats

/// One run through a tree on the answering side: it takes AM's steps and returns what to send back. It makes no calls.
struct Journey: Sendable {
    enum Next {
        /// - Parameter step: the step with everything filled in.
        case send(CallbackStep)
        /// Send the step back unchanged, because AM waits for something else.
        case poll(JSONValue)
        case wait(milliseconds: Int)
        case ask(OpenStep)
        /// Ask AM for the session's user; continues with `named(_:_:)`.
        case askUser
        /// Send a device's message to AM; continues with `messaged(_:_:)`.
        case message(DeviceMessage)
    }

    private enum Stage: Sendable {
        case resting
        /// Waits to send the step back.
        /// - Parameter until: in milliseconds.
        case polling(JSONValue, until: Int)
        /// Waits for AM's response to a device's message.
        case messaging(JSONValue, PersonAnswers, DeviceMessage, until: Int?)
        /// Waits for its turn to send the answers.
        case ready(CallbackStep)
        /// Waits for the next one-time password.
        case timing(CallbackStep)
        /// Waits for the user's names.
        case naming(JSONValue, PersonAnswers)
        case asking(JSONValue, OpenStep)
    }

    private let answers: [AuthorizationPolicy.CallbackAnswer]
    private let asksPerson: Bool
    private let waitsForTurn: Bool
    /// The required target of links that continue the tree.
    private let links: SuspendedLink.Place?
    private let tree: RunningTree?
    private let limits: Limits
    private var stage = Stage.resting
    private var given = GivenAnswers()
    private var pages = 0
    private var polls = 0
    /// The time for which the current page has been polled, in milliseconds.
    private var waited = 0
    private var userNames: [String]?
    /// Reserved one-time passwords, by `OneTimePassword.name`.
    private var places: [String: OneTimeCounters.Place] = [:]
    private var devices: DeviceAttendance?
    private(set) var notes: [String] = []

    struct Limits: Sendable {
        /// The limit of polls.
        var polls = 100
        /// Milliseconds.
        var hold = 45_000
    }

    /// - Parameter users: the user's names; nil to ask AM if they are needed.
    init(
        answers: [AuthorizationPolicy.CallbackAnswer], asksPerson: Bool = false, tree: RunningTree? = nil,
        limits: Limits = Limits(), devices: DeviceAttendance? = nil, users: [String]? = nil,
        waitsForTurn: Bool = false, links: SuspendedLink.Place? = nil
    ) {
        self.devices = devices
        self.waitsForTurn = waitsForTurn
        self.links = links
        userNames = users
        self.answers = answers
        self.asksPerson = asksPerson
        self.tree = tree
        self.limits = limits
    }

    mutating func takeNotes() -> [String] {
        defer { notes.removeAll() }
        return notes
    }

    // MARK: events

    /// Records a call for the first page, or for the page of a link.
    mutating func asksAM(_ now: Circumstances) { _ = attend { $0.asks(now) } }

    /// Handles a step of AM.
    mutating func asked(_ step: JSONValue, _ now: Circumstances) throws(StepUp.Failure) -> Next {
        let callbacks = step["callbacks"]?.items ?? []
        if !callbacks.contains(where: { Callback($0).kind == .waiting }) {
            pages += 1
            waited = 0
        }
        _ = attend { $0.wentOn(to: step, now) }
        return try proceed(step, PersonAnswers(), now)
    }

    /// Continues after a wait.
    mutating func woke(_ now: Circumstances) throws(StepUp.Failure) -> Next {
        switch stage {
        case .polling(let step, let until):
            let number = DeviceAttendance.shownNumber(in: step)
            switch userNames.flatMap({ users in attend { $0.pushAnswer(number, users: users, now) } }) {
            case .message(let message):
                stage = .messaging(step, PersonAnswers(), message, until: until)
                return .message(message)
            case .refused(let words): throw StepUp.Failure(.unanswered, words)
            case .nothing, nil: break
            }
            if devices != nil, now.milliseconds < until { return wait(until, now) }
            guard polls < limits.polls else {
                throw StepUp.Failure(
                    .tooManySteps,
                    "AM waits for something that does not come: it was asked \(LogText.count(polls, "time")), as often as authorization.limits.polls allows"
                )
            }
            polls += 1
            stage = .resting
            asksAM(now)
            return .poll(step)
        case .ready(let step), .timing(let step):
            stage = .resting
            return try finish(step, now)
        case .resting, .naming, .asking, .messaging:
            throw StepUp.Failure(.cancelled, "woken without having waited")
        }
    }

    private func wait(_ until: Int, _ now: Circumstances) -> Next {
        let left = max(1, until - now.milliseconds)
        return .wait(milliseconds: devices?.slice(left) ?? left)
    }

    // MARK: devices

    private mutating func attend<Result>(_ body: (inout DeviceAttendance) -> Result) -> Result? {
        guard var present = devices else { return nil }
        defer {
            notes += present.takeNotes()
            devices = present
        }
        return body(&present)
    }

    /// True while a device's message is under way.
    var isMessaging: Bool { if case .messaging = stage { true } else { false } }

    /// Handles AM's response to a device's message.
    mutating func messaged(_ status: Int, _ now: Circumstances) throws(StepUp.Failure) -> Next {
        guard case .messaging(let step, let told, let message, let until) = stage else {
            throw StepUp.Failure(.cancelled, "told of a message that no device sent")
        }
        _ = attend { $0.told(message, status: status, now) }
        guard let until else { return try proceed(step, told, now) }
        stage = .polling(step, until: until)
        return wait(until, now)
    }

    /// Handles the successful end of the tree.
    mutating func succeeded(_ now: Circumstances) { _ = attend { $0.wentOn(to: nil, now) } }

    // MARK: users and answers

    /// Handles AM's names of the session's user.
    mutating func named(_ names: [String], _ now: Circumstances) throws(StepUp.Failure) -> Next {
        guard case .naming(let step, let told) = stage else {
            throw StepUp.Failure(.cancelled, "told of a user whom nobody asked for")
        }
        userNames = names
        return try proceed(step, told, now)
    }

    /// True if the answers wait for their turn. One-time passwords are generated only on wake-up.
    var isAtTurn: Bool { if case .ready = stage { true } else { false } }

    /// The step that a person is asked; nil if none is open.
    var open: OpenStep? { if case .asking(_, let open) = stage { open } else { nil } }

    /// Handles a person's complete and checked answers to the open step.
    mutating func told(_ answers: PersonAnswers, _ now: Circumstances) throws(StepUp.Failure) -> Next {
        guard case .asking(let step, _) = stage else {
            throw StepUp.Failure(.cancelled, "told what nobody asked for")
        }
        return try proceed(step, answers, now)
    }

    /// Stops asking: the tree continues in another way, or ends.
    mutating func rest() { stage = .resting }

    // MARK: steps

    /// Fills in a step, and sends it if no more input is needed.
    private mutating func proceed(
        _ step: JSONValue, _ told: PersonAnswers, _ now: Circumstances
    ) throws(StepUp.Failure) -> Next {
        stage = .resting
        let users = userNames
        switch attend({ $0.look(at: step, users: users, now) }) {
        case .needsUser where userNames == nil:
            stage = .naming(step, told)
            return .askUser
        case .message(let message):
            stage = .messaging(step, told, message, until: nil)
            return .message(message)
        case nil, .nothing, .needsUser: break
        }
        let own = devices?.answers(to: step, users: users, now)
        let answers = (own?.before ?? []) + answers + (own?.after ?? [])
        let page = AnswerPage(stage: Self.stage(of: step), number: max(1, pages), tree: tree, userNames: userNames)
        let means = CallbackStep.Means(answers: answers, told: told, asks: asksPerson, waited: waited)
        switch try CallbackStep.fill(step, page, means) {
        case .ready(let filled): return try judge(filled, page, now)
        case .wait(let milliseconds):
            let wait = min(milliseconds, limits.hold)
            waited += wait
            let until = now.milliseconds + wait
            stage = .polling(step, until: until)
            notes.append("PollingWaitCallback, asking again in \(wait) ms")
            return self.wait(until, now)
        case .open(let callbacks, let given):
            // do not ask a person if the answers could not be sent
            if let spent = self.given.spent(given, stage: page.stage) {
                throw StepUp.Failure(.refused, ResponseFault.askedAgain(spent))
            }
            return ask(step, open(callbacks, on: step, page))
        case .suspended(let message):
            guard asksPerson else {
                throw StepUp.Failure(
                    .suspended,
                    "the tree goes on by a link that was sent to the user; with otherwise: ask among the answers, `usher answer` takes that link"
                )
            }
            var open = OpenStep(.suspended(message: message), stage: page.stage)
            open.links = links
            return ask(step, open)
        case .unknownUser:
            guard userNames == nil else {
                throw StepUp.Failure(.unanswered, "who the user is stays unknown")
            }
            stage = .naming(step, told)
            return .askUser
        }
    }

    private func open(_ callbacks: [OpenCallback], on step: JSONValue, _ page: AnswerPage) -> OpenStep {
        var open = OpenStep(.callbacks(callbacks), stage: page.stage, header: step["header"]?.text ?? "")
        let all = (step["callbacks"]?.items ?? []).map(Callback.init)
        let texts = [step["description"]?.text ?? ""] + all.compactMap(\.message) + DeviceRegistration.uris(in: step)
        open.messages = texts.filter { !$0.isEmpty }
        open.isAgain = all.contains { !$0.isChoice && given.answered($0.type, $0.prompt, stage: page.stage) }
        return open
    }

    /// The page's stage. Older servers give it in a callback.
    private static func stage(of step: JSONValue) -> String {
        if let stage = step["stage"]?.text, !stage.isEmpty { return stage }
        let callbacks = (step["callbacks"]?.items ?? []).prefix(CallbackStep.maxCallbacks).map(Callback.init)
        return callbacks.lazy.filter { $0.type == "MetadataCallback" }
            .compactMap { $0.output("data")?["stage"]?.text }.first ?? ""
    }

    private mutating func ask(_ step: JSONValue, _ open: OpenStep) -> Next {
        stage = .asking(step, open)
        notes.append("a person is asked for \(open.summary)")
        return .ask(open)
    }

    /// Rejects answers that AM has received before.
    private mutating func judge(
        _ step: CallbackStep, _ page: AnswerPage, _ now: Circumstances
    ) throws(StepUp.Failure) -> Next {
        let text = step.step["callbacks"]?.serialized ?? ""
        if let again = given.add(step.given, stage: page.stage, page: text) {
            throw StepUp.Failure(.refused, ResponseFault.askedAgain(again))
        }
        guard waitsForTurn, !step.codes.isEmpty else { return try finish(step, now) }
        stage = .ready(step)
        return .wait(milliseconds: 0)
    }

    /// Generates the missing one-time passwords.
    private mutating func finish(_ step: CallbackStep, _ now: Circumstances) throws(StepUp.Failure) -> Next {
        var step = step
        let counters = OneTimeCounters(state: now.state)
        // wait for all of them before the first is generated; it would expire otherwise
        for next in step.codes where !isDue(next.password, counters, now) {
            guard
                let place = counters.place(next.password, seconds: now.seconds, longest: limits.hold / 1000)
            else { continue }
            places[next.password.name] = place.isKept ? place : nil
            return try wait(until: place.time, for: next, of: step, now)
        }
        while let next = step.codes.first {
            if let place = places.removeValue(forKey: next.password.name),
                let code = counters.code(of: place, next.password, seconds: now.seconds)
            {
                try step.put(code)
                continue
            }
            switch counters.claim(next.password, seconds: now.seconds) {
            case .code(let code): try step.put(code)
            case .taken: return try finish(step, now)
            case .later(let milliseconds):
                stage = .timing(step)
                return .wait(milliseconds: milliseconds)
            case .failed(let reason):
                throw StepUp.Failure(.unusable, "no one-time password for \(next.shown): \(reason)")
            }
        }
        notes.append(step.description)
        asksAM(now)
        return .send(step)
    }

    private func isDue(_ password: OneTimePassword, _ counters: OneTimeCounters, _ now: Circumstances) -> Bool {
        places[password.name].flatMap { counters.code(of: $0, password, seconds: now.seconds) } != nil
    }

    /// - Parameter time: in seconds since 1970.
    private mutating func wait(
        until time: Int, for code: CallbackStep.Code, of step: CallbackStep, _ now: Circumstances
    ) throws(StepUp.Failure) -> Next {
        let seconds = max(1, time - now.seconds)
        let already = "the one-time password for \(code.shown) was given to AM already"
        guard seconds * 1000 <= limits.hold else {
            throw StepUp.Failure(
                .unanswered, "\(already), and the next one comes in \(seconds) s, later than authorization.hold allows")
        }
        notes.append("\(already); the next one comes in \(seconds) s")
        stage = .timing(step)
        return .wait(milliseconds: seconds * 1000)
    }
}

/// The outside state that a run through a tree depends on.
public struct Circumstances {
    /// Seconds since 1970.
    public var seconds: Int
    /// State kept across restarts; nil if nothing is persisted.
    public var state: (any StateStore)?

    /// Milliseconds of the clock that all loops share.
    public var milliseconds: Int
    /// Delivered pushes; nil if none are accepted.
    public var pushes: (any PushStore)?
    /// The stored devices, newest first.
    var devices: [KeptDevice] {
        guard let state else { return [] }
        return pushes?.change { $0.roster(of: state).devices } ?? state.keptDevices
    }

    public init(
        seconds: Int = 0, state: (any StateStore)? = nil, milliseconds: Int = 0, pushes: (any PushStore)? = nil
    ) {
        self.seconds = seconds
        self.state = state
        self.milliseconds = milliseconds
        self.pushes = pushes
    }
}
