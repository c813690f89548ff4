import Journal

/// Calls to AM as they are kept, one behind the other, made for tests.
struct LoginRecording {
    private(set) var ring: FlowRing
    private var number = 0
    /// Milliseconds since 1970 of the next call, which takes 10 of them.
    private(set) var time = 1_700_000_000_000

    init(budget: Int = 256 << 20) { ring = FlowRing(budget: budget) }

    var book: JourneyBook { JourneyBook(ring) }

    mutating func wait(_ milliseconds: Int) { time += milliseconds }

    @discardableResult
    mutating func add(
        _ action: String, _ request: String = "", _ response: String = "{}", status: Int = 200,
        _ change: (inout FlowSamples.Sample) -> Void = { _ in }
    ) -> Int {
        number += 1
        let (number, time) = (number, time)
        self.time += 10
        ring.append(
            FlowSamples.flow { sample in
                (sample.id, sample.sequence, sample.began, sample.duration) = (0x1000 + number, number, time, 10)
                (sample.action, sample.method, sample.status) = (action, "POST", status)
                (sample.realm, sample.tree, sample.type) = ("/alpha", "Login", "service")
                (sample.target, sample.client) = ("/am/json/authenticate", "127.0.0.1:5000\(number % 10)")
                sample.request = "Host: am.test\r\nContent-Type: application/json\r\n"
                sample.response = "Content-Type: application/json\r\n"
                (sample.requestBody, sample.responseBody) = (Array(request.utf8), Array(response.utf8))
                change(&sample)
            })
        return 0x1000 + number
    }

    // MARK: a login

    static func step(_ authId: Int, _ callbacks: String = #"{"type":"NameCallback"}"#) -> String {
        #"{"authId":"authId#\#(authId)","callbacks":[\#(callbacks)],"stage":"One","header":"Sign in"}"#
    }

    static func answer(_ authId: Int, _ name: String = "demo") -> String {
        step(authId, #"{"type":"NameCallback","input":[{"name":"IDToken1","value":"\#(name)"}]}"#)
    }

    static func success(_ session: Int) -> String {
        #"{"tokenId":"session#\#(session)","successUrl":"/console","realm":"/alpha"}"#
    }

    static let refusal =
        #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"errorCode":"107"}}"#

    /// Two calls, the second 500 ms behind the first.
    @discardableResult
    mutating func login(_ authId: Int, _ session: Int, cookie: Int? = nil) -> Int {
        let id = add("START_AUTHENTICATE", "", Self.step(authId)) { $0.request += Self.cookie(cookie) }
        wait(500)
        add("AUTHENTICATE", Self.answer(authId), Self.success(session)) { $0.request += Self.cookie(cookie) }
        return id
    }

    static func cookie(_ session: Int?) -> String {
        session.map { "Cookie: a=1; iPlanetDirectoryPro=session#\($0)\r\n" } ?? ""
    }

    mutating func get(_ path: String, _ fields: String, status: Int = 200, host: String = "shop.test") {
        add("", "", "", status: status) { sample in
            (sample.method, sample.host, sample.target) = ("GET", host, path)
            (sample.realm, sample.tree, sample.type) = ("", "", "")
            sample.request += fields
        }
    }
}
