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
        case .reset: "the connection is reset without a response"
        case .slow: "the response is delayed by this many milliseconds (5000)"
        case .tooMany: "429, with this many seconds in Retry-After (1)"
        case .unavailable: "503, with this many seconds in Retry-After (1)"
        case .circle: "a redirect to the request's own URL"
        case .expiredToken: "the access token expires at its first use; refreshed tokens are valid"
        case .expired: "the transaction has expired before it begins"
        case .used: "the transaction was already used"
        case .foreign: "the transaction belongs to another session"
        case .wrongSession: "the session ends with the response that requires a step-up"
        case .again: "no transaction grants access: each response requires a new one"
        case .foreignAM: "the advice names an AM at am.evil.example"
        case .badBase64: "the advice is not base64"
        case .badJSON: "the advice is not JSON, or not XML in a redirect"
        case .cut: "the advice is truncated"
        case .noValue: "the advice is missing; only its envelope is there"
        case .unknown: "the advice has an unknown type"
        case .entities: "the advice has a document type and entities"
        case .huge: "the advice has this many bytes (10 MiB)"
        case .thousand: "the advice has this many values (1000)"
        case .amReset: "AM resets the connection without a response"
        case .amSlow: "AM delays its response by this many milliseconds (5000)"
        case .amTooMany: "AM responds with 429, with this many seconds in Retry-After (1)"
        case .amUnavailable: "AM responds with 503, with this many seconds in Retry-After (1)"
        case .amLockout: "AM responds that the user is locked out (401, errorCode 112)"
        case .amText: "AM responds with 200 and a page instead of JSON"
        case .amCircle: "AM redirects to the request's own URL"
        case .amEndless: "AM repeats its callbacks after every answer"
        case .amHuge: "AM's authId has this many bytes (1 MiB)"
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
