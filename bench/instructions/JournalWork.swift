import Expectations
import Interception
import Journal

/// What the journal's thread does with flows.
enum JournalWork {
    /// The field lines of a head.
    private static func lines(_ head: [UInt8]) -> String {
        String(
            String(decoding: head, as: UTF8.self).split(separator: "\r\n", maxSplits: 1)[1].replacing(
                "\r\n\r\n", with: "\r\n"))
    }

    /// Plain exchanges, one a batch.
    static func plain(_ count: Int) -> Int {
        let request = lines(Work.request).replacing(
            "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n", with: "")
        let response = lines(Array(Work.response.dropLast(912)))
        let body = [UInt8](repeating: 0x61, count: 912)
        return taken(count) { batch, number in
            var packer = batch.begin([])
            packer.set(.id, number)
            packer.set(.status, 200)
            packer.set(.target, "/api/items/42?colour=blue&size=9")
            packer.set(.request, request)
            packer.set(.response, response)
            packer.set(.responseBody, body)
            batch.end(packer)
        }
    }

    private static let cookie = "iPlanetDirectoryPro=hPMyifTVeQEYPUof5n3IgG-a.*AAJTSQACMDE.*"
    private static let call =
        "Host: am.example.com\r\nAccept: application/json\r\nAccept-API-Version: protocol=1.0,resource=2.1\r\nContent-Type: application/json\r\nX-Requested-With: forgerock-sdk\r\nCookie: \(cookie)\r\n"
    private static let answer =
        "Date: Fri, 27 Nov 2026 14:58:21 GMT\r\nServer: am\r\nContent-Type: application/json;charset=UTF-8\r\nContent-API-Version: protocol=1.0,resource=2.1\r\nCache-Control: no-cache, no-store, must-revalidate\r\nPragma: no-cache\r\nExpires: 0\r\n"

    /// The flows of whole step-ups: the client's exchange and both calls to AM, each with secrets of its own.
    static func stepUps(_ count: Int) -> Int {
        taken(count) { batch, number in
            let id = "a0ae7eb0-13d1-4fd0-b04e-\(100_000_000_000 + number)"
            let step = { (name: String, password: String) in
                """
                {"authId":"eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.\(String(repeating: "eyJvdGsiOiJU-b3lVOVFz_", count: 20)).\(number)-cjERqasKKaPDVCSnWq","callbacks":[\
                {"type":"NameCallback","output":[{"name":"prompt","value":"User Name"}],"input":[{"name":"IDToken1","value":"\(name)"}],"_id":0},\
                {"type":"PasswordCallback","output":[{"name":"prompt","value":"Password"}],"input":[{"name":"IDToken2","value":"\(password)"}],"_id":1}],\
                "stage":"TransactionAuthorization","header":"Approve this access"}
                """
            }
            let document =
                "%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute%20name%3D%22TransactionConditionAdvice%22%2F%3E%3CValue%3E\(id)%3C%2FValue%3E%3C%2FAttributeValuePair%3E%3C%2FAdvices%3E"
            add(
                &batch, "POST",
                "/am/json/realms/root/authenticate?authIndexType=composite_advice&authIndexValue=\(document)", call, "",
                answer, step("", ""))
            add(
                &batch, "POST", "/am/json/realms/root/authenticate", call, step("demo", "changeit"),
                answer + "Set-Cookie: \(cookie); Path=/\r\nSet-Cookie: amlbcookie=01; Path=/\r\n",
                "{\"tokenId\":\"\(cookie.dropFirst(20))\",\"successUrl\":\"/am/console\",\"realm\":\"/\"}")
            let asked = "Host: shop.example.com\r\nAccept-Encoding: identity\r\nCookie: \(cookie)\r\n"
            add(
                &batch, "GET", "/shop/pay", asked, "", answer,
                "{\"access\":1,\"user\":\"demo\",\"fields\":[[\"Cookie\",\"\(cookie)\"]]}"
            ) {
                $0.set(.sentMethod, "GET")
                $0.set(.sentURL, "http://shop.example.com/shop/pay?_txid=\(id)")
                $0.set(.sent, asked + "x-authenticate-response: header\r\n")
                $0.set(.answerStatus, 200)
            }
        }
    }

    private static func add(
        _ batch: inout FlowBatch, _ method: String, _ target: String, _ request: String, _ requestBody: String,
        _ response: String, _ responseBody: String, _ more: (inout FlowPacker) -> Void = { _ in }
    ) {
        var packer = batch.begin([])
        packer.set(.status, 200)
        packer.set(.method, method)
        packer.set(.authority, "am.example.com")
        packer.set(.target, target)
        packer.set(.request, request)
        packer.set(.requestBody, requestBody)
        more(&packer)
        packer.set(.response, response)
        packer.set(.responseBody, responseBody)
        batch.end(packer)
    }

    private static func taken(_ count: Int, _ fill: (inout FlowBatch, Int) -> Void) -> Int {
        var store = JournalStore(JournalStore.Settings(memory: 1 << 20)) { ("note", "\($0)") }
        var bytes = 0
        for number in 0..<count {
            var batch = FlowBatch()
            fill(&batch, number)
            bytes += store.take(batch, offset: 0).reduce(0) { $0 + $1.count }
        }
        return bytes
    }

    /// A plain flow before twenty expectations, none of which it concerns.
    static func expectations(_ count: Int) -> Int {
        let conditions: [Condition] =
            ["LOGOUT", "REVOKE_TOKEN", "AUTHORIZE", "EXCHANGE_TOKEN", "REFRESH_TOKEN"].map {
                .test(.action, [.exact($0)])
            } + (1...5).map { .all([.test(.host, [.glob("api\($0).*")]), .test(.status, [.range(500...599)])]) }
            + (1...5).map { .all([.test(.method, [.exact("POST")]), .test(.path, [.glob("/orders/\($0)/*")])]) }
            + (1...5).map { .all([.test(.path, [.exact("/login/\($0)")]), .test(.form("user"), [.exact("a")])]) }
        var ledger = ExpectationLedger(
            conditions.map { when in
                Expectation(name: when.words, words: "", test: .messages(MessageTest(when, count: 0...1)))
            })
        var packer = FlowPacker()
        packer.set(.status, 200)
        packer.set(.scheme, 1)
        packer.set(.method, "GET")
        packer.set(.authority, "shop.example.com")
        packer.set(.target, "/api/items/42?colour=blue&size=9")
        packer.set(.request, lines(Work.request))
        guard let flow = PackedFlow(packer.finish()) else { return 0 }
        for _ in 0..<count { ledger.observe(flow) }
        return ledger.seen
    }
}
