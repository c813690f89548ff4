internal import Formats
public import HTTPCodec
public import Interception

/// Observes a journey that an app runs itself. It stores the devices that the app registers and answers pushes. It changes
/// nothing in the messages between the app and AM.
public struct SeenJourney: Sendable {
    /// The action before the observed message goes on.
    public enum Command: Sendable {
        case goOn
        case send(ServerCall)
    }

    private enum Stage: Sendable {
        case resting
        /// Waits for AM's name of the session's user, before the app's request or AM's response goes on.
        case naming(JSONValue, isAnswer: Bool)
        /// Waits for AM's name of the user after the journey has ended.
        case confirming
        case messaging(DeviceMessage, JSONValue?)
    }

    public let server: AuthorizationServer
    private let realm: String
    private var attendance: DeviceAttendance
    private var stage = Stage.resting
    /// The user's names according to AM.
    private var users: [String]?
    /// The user name that the app entered.
    private var typed: String?
    private var session: SessionSource?
    private var hasAsked = false
    /// The app's last request body, until AM responds to it.
    private var told: JSONValue?
    /// True if AM's last page waits. The page may show `number`.
    private var waits = false
    private var number: String?
    private var calls = 0
    private var notes: [String] = []

    /// - Parameters:
    /// - devices: all configured devices.
    /// - realm: the realm in the request.
    /// - Returns: nil if no device takes part there.
    public init?(_ devices: [Device], at head: RequestHead, realm: String?) {
        guard
            let server = devices.first(where: { $0.isSeen && $0.server.refusal(of: head) == nil })?.server,
            let realm = realm.map({ server.configuredRealm($0) }) ?? server.realms.first,
            let attendance = DeviceAttendance(
                devices.filter { $0.isSeen && $0.server == server }, server, realm: realm)
        else { return nil }
        self.server = server
        self.realm = realm
        self.attendance = attendance
    }

    /// Whether both have the same server, realm and devices. The configuration may have changed since the last step.
    public func isOf(_ other: SeenJourney) -> Bool {
        server == other.server && realm == other.realm && attendance.devices == other.attendance.devices
    }

    /// Whether a request goes to this server.
    public func isAt(_ head: RequestHead) -> Bool { server.refusal(of: head) == nil }
    /// The name of the session cookie.
    public var cookie: String { server.cookie }

    public mutating func takeNotes() -> [String] {
        defer { notes.removeAll() }
        return notes
    }

    // MARK: requests

    /// Handles the app's request.
    /// - Parameter session: the session in the request.
    public mutating func asked(_ body: [UInt8], session: SessionSource?, _ now: Circumstances) -> Command {
        if let session { self.session = session }
        attendance.asks(now)
        guard !body.isEmpty, let page = try? JSONValue(parsing: body) else { return .goOn }
        if let name = attendance.typedName(in: page) { typed = name }
        told = page
        return answerPush(page, now)
    }

    private var names: [String] { (users ?? []) + (typed.map { [$0] } ?? []) }

    private mutating func answerPush(_ page: JSONValue, _ now: Circumstances) -> Command {
        guard waits else { return .goOn }
        if names.isEmpty {
            return mayAsk && attendance.hasPush(now) ? askUser(.naming(page, isAnswer: false)) : .goOn
        }
        let (names, number) = (names, number)
        switch attend({ $0.pushAnswer(number, users: names, now) }) {
        case .nothing: return .goOn
        case .message(let message): return tell(message, nil)
        case .refused(let words):
            notes.append(words)
            return .goOn
        }
    }

    // MARK: responses

    public mutating func answered(status: Int, body: [UInt8], _ now: Circumstances) -> Command {
        (waits, number) = (false, nil)
        let (page, names) = (told, names)
        told = nil
        guard status == 200, let answer = try? JSONValue(parsing: body), answer.members != nil else { return .goOn }
        // a refused answer uses up no one-time password
        if let page { attend { $0.spend(on: page, users: names, now) } }
        guard answer["authId"]?.text?.isEmpty == false else { return ended(answer, now) }
        waits = DeviceAttendance.waits(answer)
        number = DeviceAttendance.shownNumber(in: answer)
        attend { $0.wentOn(to: answer, now) }
        return register(answer, now)
    }

    private mutating func register(_ page: JSONValue, _ now: Circumstances) -> Command {
        let labels = attendance.offers(in: page).map(\.account).filter { !$0.isEmpty }
        guard !labels.isEmpty || users != nil else { return .goOn }
        if mayAsk { return askUser(.naming(page, isAnswer: true)) }
        // AM's registration page names the account itself
        let known = users ?? Array(labels.prefix(1))
        guard case .message(let message)? = attend({ $0.register(from: page, users: known, now) }) else { return .goOn }
        return tell(message, page)
    }

    private mutating func ended(_ answer: JSONValue, _ now: Circumstances) -> Command {
        guard answer["tokenId"] != nil || answer["successUrl"] != nil else { return .goOn }
        attend { $0.wentOn(to: nil, now) }
        guard !attendance.registered.isEmpty else { return .goOn }
        if let token = answer["tokenId"]?.text, SessionSource.isUsable(token) {
            session = SessionSource(token: token, carrier: .cookie, affinity: session?.affinity)
        } else if typed != nil {
            // the app's session may belong to another user
            return .goOn
        }
        return session == nil ? .goOn : askUser(.confirming)
    }

    // MARK: calls

    /// True if AM can be asked for the user. The session's user owns the journey unless the app enters a name.
    private var mayAsk: Bool { users == nil && typed == nil && session != nil && !hasAsked }

    private mutating func askUser(_ next: Stage) -> Command {
        guard let session, SessionSource.isUsable(session.token) else { return .goOn }
        do throws(HTTPFault) {
            calls += 1
            let call = try server.sessionCall(.info, session, realm: realm, number: calls)
            stage = next
            hasAsked = true
            return .send(call)
        } catch {
            notes.append("the URL for sessions cannot be made: \(error.explanation)")
            return .goOn
        }
    }

    /// - Parameter page: the page whose other registrations are handled afterwards.
    private mutating func tell(_ message: DeviceMessage, _ page: JSONValue?) -> Command {
        stage = .messaging(message, page)
        return send(message.head, message.body, message.action)
    }

    private mutating func send(_ head: RequestHead, _ body: [UInt8], _ action: Action) -> Command {
        calls += 1
        return .send(
            ServerCall(head: head, body: body, number: calls, action: action, payload: nil, carriesAnswers: false))
    }

    /// Handles the response to an ordered call.
    public mutating func called(status: Int, body: [UInt8], _ now: Circumstances) -> Command {
        let before = stage
        stage = .resting
        switch before {
        case .resting: return .goOn
        case .messaging(let message, let page):
            attend { $0.told(message, status: status, now) }
            return page.map { register($0, now) } ?? .goOn
        case .naming(let page, let isAnswer):
            let found = whose(status, body)
            if !found.isEmpty { users = found }
            return isAnswer ? register(page, now) : answerPush(page, now)
        case .confirming:
            let found = whose(status, body)
            if !found.isEmpty { attend { $0.confirm(found, now) } }
            return .goOn
        }
    }

    private mutating func whose(_ status: Int, _ body: [UInt8]) -> [String] {
        let found = status == 200 ? SessionInfo.names(try? JSONValue(parsing: body)) : []
        if found.isEmpty { notes.append("AM does not name the session's user (\(status))") }
        return found
    }

    /// Handles the failure of an ordered call.
    public mutating func callFailed(_ reason: String) {
        stage = .resting
        notes.append("what the device had to say came to nothing: \(reason)")
    }

    @discardableResult
    private mutating func attend<Result>(_ body: (inout DeviceAttendance) -> Result) -> Result {
        defer { notes += attendance.takeNotes() }
        return body(&attendance)
    }
}
