import Authorization
import HTTPCodec
import Interception

/// Looks on while an app runs a journey at AM itself: what it registers is kept for the device of its user, and a push that it
/// waits for is answered before the app asks AM again. What the app and AM say passes as it is.
final class DeviceWatch: Detour {
    private enum Stage {
        case watching
        /// A call is under way, and the app's request goes out behind it.
        case asking
        /// A call is under way, and AM's answer goes to the app behind it.
        case telling(HeldResponse)
    }

    private var journey: SeenJourney
    private var stage = Stage.watching
    private var hasLooked = false
    private(set) var limit: Int?

    /// How much of a page is looked through: as much as of those in Usher's own journeys.
    private static let largestPage = 1 << 20
    /// Milliseconds that the app waits for what a device has to say.
    private static let hold = 10_000

    /// Nil where no device takes part in journeys there.
    init?(_ devices: [Device], _ head: RequestHead, _ classification: Classification?) {
        switch classification?.action {
        case .startAuthenticate?, .authenticate?, .resumeAuthenticate?: break
        default: return nil
        }
        guard let journey = SeenJourney(devices, at: head, realm: classification?.realm) else { return nil }
        self.journey = journey
    }

    var isActive: Bool { if case .watching = stage { false } else { true } }
    var endsWithClient: Bool { false }
    private var kept: HeldResponse? { if case .telling(let held) = stage { held } else { nil } }
    var keepsResponse: Bool { kept != nil }
    var keptBytes: Int { kept?.body.count ?? 0 }
    var maxResponseBytes: Int { Self.largestPage }
    var cookieLines: [String] { [] }

    // MARK: what the app sends

    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard !hasLooked, let store = context.pushes, context.state != nil else { return nil }
        hasLooked = true
        guard context.isWhole, journey.isAt(context.sent) else { return nil }
        if let authId = Classifier.authId(in: context.body) {
            let now = context.now
            if let known = store.change({ $0.journey(authId, now: now) }), known.isOf(journey) { journey = known }
        }
        let order = journey.asked(
            context.body, session: SessionSource.carried(by: context.request, named: journey.cookie),
            context.circumstances)
        guard case .send(let call) = order else {
            note(&notes)
            return nil
        }
        stage = .asking
        return self.call(call, context, &notes)
    }

    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {}

    // MARK: what AM answers

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        hasLooked && response.status == 200 && journey.isAt(sent) ? Self.largestPage : nil
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        guard hasLooked, response.head.status == 200, journey.isAt(context.sent) else { return .deliver(response) }
        let order = journey.answered(
            status: response.head.status, body: response.plainBody(Self.largestPage) ?? [], context.circumstances)
        stage = .telling(response)
        if case .send(let call) = order { return self.call(call, context, &notes) }
        return goOn(context, &notes)
    }

    /// The app comes with this page's `authId` next.
    private func remember(_ page: HeldResponse, _ context: DetourContext) {
        guard let store = context.pushes, let authId = page.plainBody(Self.largestPage).flatMap(Classifier.authId)
        else { return }
        let (journey, now) = (journey, context.now)
        store.change { $0.remember(journey, authId, now: now) }
    }

    // MARK: calls

    private func call(
        _ call: ServerCall, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        note(&notes)
        limit = limit ?? context.now + Self.hold
        return .call(
            DetourCall(
                call: call, bound: .server(journey.server), purpose: .device, maxResponseBytes: Self.largestPage,
                keptBytes: context.body.count + keptBytes))
    }

    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        let order = journey.called(status: response.head.status, body: response.body, context.circumstances)
        if case .send(let call) = order { return self.call(call, context, &notes) }
        return goOn(context, &notes)
    }

    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard isActive else { return nil }
        journey.callFailed(reason)
        return goOn(context, &notes)
    }

    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard let limit, context.now >= limit else { return nil }
        return failed("AM took longer than \(Self.hold / 1000) s", context, &notes)
    }

    /// What had to be done first is done.
    private func goOn(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        note(&notes)
        limit = nil
        let held = kept
        stage = .watching
        guard let held else { return .proceed }
        remember(held, context)
        return .deliver(held)
    }

    private func note(_ notes: inout [ExchangeMoment]) {
        for words in journey.takeNotes() { notes.append(.conversation(words)) }
    }

    func answered(_ response: inout ResponseHead, _ context: DetourContext) {}
    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {}
    func delivers(_ status: Int) {}
    func abandon() { stage = .watching }
}

extension Exchange {
    /// Devices look on where an app runs a journey itself.
    mutating func watchDevices() {
        guard engine.devicesWatch, let watch = DeviceWatch(engine.settings.devices, request, classification) else {
            return
        }
        addDetour(watch)
    }
}
