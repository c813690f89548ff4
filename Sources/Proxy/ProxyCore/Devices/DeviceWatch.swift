import Authorization
import HTTPCodec
import Interception

/// Watches an app's own journey at AM. It keeps what the app registers for the user's device, and answers a push before the app
/// asks AM again. All messages pass unchanged.
final class DeviceWatch: Filter {
    private enum Stage {
        case watching
        /// A call is under way; then the app's request goes out.
        case asking
        /// A call is under way; then AM's response goes to the app.
        case telling(HeldResponse)
    }

    private var journey: SeenJourney
    private var stage = Stage.watching
    private var hasLooked = false
    private var limit: Int?

    /// The most bytes of a page that are searched, as in Usher's own journeys.
    private static let largestPage = 1 << 20
    /// Milliseconds that the app waits for a device's calls.
    private static let longest = 10_000

    /// Nil if no device takes part in journeys at that server.
    init?(_ devices: [Device], _ head: RequestHead, _ classification: Classification?) {
        switch classification?.action {
        case .startAuthenticate?, .authenticate?, .resumeAuthenticate?: break
        default: return nil
        }
        guard let journey = SeenJourney(devices, at: head, realm: classification?.realm) else { return nil }
        self.journey = journey
    }

    private var isActive: Bool { if case .watching = stage { false } else { true } }
    private var kept: HeldResponse? { if case .telling(let held) = stage { held } else { nil } }

    var hold: FilterHold? {
        guard isActive else { return nil }
        return FilterHold(isActive: true, keepsResponse: kept != nil, bytes: kept?.body.count ?? 0, limit: limit)
    }

    // MARK: filter

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        if case .ready = step { prepare(&context) ?? .proceed } else { .proceed }
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .offered where hasLooked && head.status == 200 && journey.isAt(context.sent):
            .hold(upTo: Self.largestPage)
        case .whole(let response): look(at: response, &context)
        case .head, .offered, .tooLarge: .proceed
        }
    }

    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
        switch event {
        case .answered(let response): return answered(response, &context)
        case .failed(let reason): return failed(reason, &context)
        case .woke:
            guard let limit, context.now >= limit else { return nil }
            return failed("AM took longer than \(Self.longest / 1000) s", &context)
        }
    }

    func end(_ end: FilterEnd) { if case .decided = end { stage = .watching } }

    // MARK: the app's requests

    private func prepare(_ context: inout FilterContext) -> FilterAction? {
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
            note(&context)
            return nil
        }
        stage = .asking
        return self.call(call, &context)
    }

    // MARK: AM's responses

    private func look(at response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        guard hasLooked, response.head.status == 200, journey.isAt(context.sent) else { return .proceed }
        let order = journey.answered(
            status: response.head.status, body: response.plainBody(Self.largestPage) ?? [], context.circumstances)
        stage = .telling(response)
        if case .send(let call) = order { return self.call(call, &context) }
        return goOn(&context)
    }

    /// Stores the journey under the page's `authId`, which the app sends next.
    private func remember(_ page: HeldResponse, _ context: FilterContext) {
        guard let store = context.pushes, let authId = page.plainBody(Self.largestPage).flatMap(Classifier.authId)
        else { return }
        let (journey, now) = (journey, context.now)
        store.change { $0.remember(journey, authId, now: now) }
    }

    // MARK: calls

    private func call(_ call: ServerCall, _ context: inout FilterContext) -> FilterAction {
        note(&context)
        limit = limit ?? context.now + Self.longest
        return .call(
            FilterCall(
                call, to: .server(journey.server), maxResponseBytes: Self.largestPage,
                keptBytes: context.body.count + (kept?.body.count ?? 0)
            ) { .deviceCall(call.action, number: call.number, url: $0) })
    }

    private func answered(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        let order = journey.called(status: response.head.status, body: response.body, context.circumstances)
        if case .send(let call) = order { return self.call(call, &context) }
        return goOn(&context)
    }

    private func failed(_ reason: String, _ context: inout FilterContext) -> FilterAction? {
        guard isActive else { return nil }
        journey.callFailed(reason)
        return goOn(&context)
    }

    /// Continues after the calls.
    private func goOn(_ context: inout FilterContext) -> FilterAction {
        note(&context)
        limit = nil
        let held = kept
        stage = .watching
        guard let held else { return .proceed }
        remember(held, context)
        return .deliver(held)
    }

    private func note(_ context: inout FilterContext) {
        for words in journey.takeNotes() { context.note(.conversation(words)) }
    }
}

extension DeviceWatch {
    /// Adds the filter where an app runs a journey itself.
    static let registration = FilterRegistration(
        .classified, where: { $0.devices.contains(where: \.isSeen) }
    ) { setup in
        guard case .done(let found) = setup.step,
            let watch = DeviceWatch(setup.engine.settings.devices, setup.request, found)
        else { return }
        setup.add(watch)
    }
}
