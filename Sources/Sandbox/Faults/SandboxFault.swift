internal import HTTPCodec

/// A fault on demand: for all requests by a switch, for one by `_fault=NAME` or `_fault=NAME=VALUE` in its query. A browser can
/// write that, and it stays in a repeated request.
public struct SandboxFault: Equatable, Sendable {
    public enum Name: String, CaseIterable, Sendable {
        // the resource, before any check
        case reset, slow, tooMany = "too-many", unavailable, circle, expiredToken = "expired-token"
        // the transaction of the request
        case expired = "expired-transaction", used = "used-transaction", foreign = "foreign-transaction"
        case wrongSession = "wrong-session", again
        // the gateway's advice
        case foreignAM = "foreign-am", badBase64 = "bad-base64", badJSON = "bad-json", cut, noValue = "no-value"
        case unknown = "unknown-advice", entities, huge = "huge-advice", thousand = "thousand-advices"
        // AM, for the request's step-up or a request to AM itself
        case amReset = "am-reset", amSlow = "am-slow", amTooMany = "am-too-many", amUnavailable = "am-unavailable"
        case amLockout = "am-lockout", amText = "am-text", amCircle = "am-circle", amEndless = "am-endless"
        case amHuge = "am-huge-authid"
    }

    public let name: Name
    /// The fault's value, or its default.
    public let value: Int

    public init(_ name: Name, _ value: Int? = nil) {
        self.name = name
        self.value = value ?? name.usual ?? 0
    }

    /// Reads `slow` or `slow=500`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = halves.first, let name = Name(rawValue: String(first)) else { return nil }
        guard halves.count == 2 else {
            self.init(name)
            return
        }
        guard name.usual != nil, let value = Int(halves[1]), 0...(64 << 20) ~= value else { return nil }
        self.init(name, value)
    }
}

extension SandboxFault.Name {
    /// The default value; nil if the fault has no value.
    var usual: Int? {
        switch self {
        case .slow, .amSlow: 5000
        case .tooMany, .unavailable, .amTooMany, .amUnavailable: 1
        case .huge: 10 << 20
        case .thousand: 1000
        case .amHuge: 1 << 20
        default: nil
        }
    }

    /// The effect in one line.
    public var sentence: String {
        switch self {
        case .reset: "the connection is reset instead of an answer"
        case .slow: "the answer comes after so many milliseconds (5000)"
        case .tooMany: "429, with so many seconds in Retry-After (1)"
        case .unavailable: "503, with so many seconds in Retry-After (1)"
        case .circle: "a redirect to the request's own URL"
        case .expiredToken: "the access token ends when it is shown; what it is refreshed to is good"
        case .expired: "the transaction is over before it begins"
        case .used: "the transaction was used before"
        case .foreign: "the transaction is another session's"
        case .wrongSession: "the session ends with the answer that asks for a step-up"
        case .again: "no transaction ever grants anything: each answer asks for a new one"
        case .foreignAM: "the advice names an AM at am.evil.example"
        case .badBase64: "the advice is not base64"
        case .badJSON: "the advice is not JSON, or not XML in a redirect"
        case .cut: "the advice is cut short"
        case .noValue: "the advice is not there at all, only what stands around it"
        case .unknown: "the advice is of a kind that nobody knows"
        case .entities: "the advice has a document type and entities"
        case .huge: "the advice has so many bytes (10 MiB)"
        case .thousand: "the advice has so many values (1000)"
        case .amReset: "AM resets the connection instead of an answer"
        case .amSlow: "AM answers after so many milliseconds (5000)"
        case .amTooMany: "AM answers 429, with so many seconds in Retry-After (1)"
        case .amUnavailable: "AM answers 503, with so many seconds in Retry-After (1)"
        case .amLockout: "AM answers that the user is locked out (401, errorCode 112)"
        case .amText: "AM answers 200 with a page instead of JSON"
        case .amCircle: "AM answers with a redirect to the request's own URL"
        case .amEndless: "AM asks the same again, whatever is answered"
        case .amHuge: "AM's authId has so many bytes (1 MiB)"
        }
    }

    /// True for faults of AM; others are of the gateway or the resource.
    var isOfServer: Bool { rawValue.hasPrefix("am-") }
}

/// A set of active faults.
struct Faults: Sendable {
    private(set) var all: [SandboxFault]

    init(_ all: [SandboxFault] = []) { self.all = all }

    /// The faults in a request's query; nil if one is unknown.
    init?(_ request: SandboxRequest) {
        all = []
        for text in request.query.values(named: "_fault") {
            guard let fault = SandboxFault(text) else { return nil }
            all.append(fault)
        }
    }

    var ofServer: Faults { Faults(all.filter(\.name.isOfServer)) }
    var isEmpty: Bool { all.isEmpty }

    /// The value of a fault; nil if it is not active.
    subscript(_ name: SandboxFault.Name) -> Int? { all.first { $0.name == name }?.value }

    func has(_ name: SandboxFault.Name) -> Bool { self[name] != nil }

    static func + (left: Faults, right: Faults) -> Faults { Faults(left.all + right.all) }
}
