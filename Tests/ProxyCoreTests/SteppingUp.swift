import Formats
import HTTPCodec
import ProxyCore
import Testing

/// The pieces of a step-up's conversation.
enum SteppingUp {
    static let session = "Cookie: iPlanetDirectoryPro=SESSION-A"
    static let get = "GET http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\n\(session)\r\n\r\n"
    static let post =
        "POST http://shop.test/api/pay HTTP/1.1\r\nHost: shop.test\r\n\(session)\r\nContent-Length: 6\r\n\r\na=1&b=2"
        .replacing("Content-Length: 6", with: "Content-Length: 7")

    static func advice(_ conditions: String, am: String = "http://am.test/am") -> String {
        "SSOADVICE realm=\"/\",am_uri=\"\(am)\",advices=\"\(Base64.encode(conditions.utf8))\""
    }
    static let transaction = "{\"TransactionConditionAdvice\":[\"t-1\"]}"
    static let upgrade = "{\"AuthenticateToServiceConditionAdvice\":[\"StepUp\"]}"

    /// The answer that carries the advice, as the resource sends it.
    static func refused(_ conditions: String = transaction, am: String = "http://am.test/am") -> String {
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(advice(conditions, am: am))\r\nX-Odd:  kept \r\n"
            + "Content-Length: 4\r\n\r\n\0no\n"
    }
    /// The same as the client gets it where the step-up failed.
    static func original(_ conditions: String = transaction, am: String = "http://am.test/am") -> String {
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(advice(conditions, am: am))\r\nX-Odd: kept\r\n"
            + "Via: 1.1 usher\r\nContent-Length: 4\r\n\r\n\0no\n"
    }

    static func json(_ body: String, status: String = "200 OK", fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
    static let step = json(
        "{\"authId\":\"a1\",\"callbacks\":[{\"type\":\"NameCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"User\"}],"
            + "\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}]}")
    /// A step that asks for nothing.
    static let message = json(
        "{\"authId\":\"a1\",\"callbacks\":[{\"type\":\"TextOutputCallback\",\"output\":[]}]}")
    static let success = json("{\"tokenId\":\"SESSION-B\",\"successUrl\":\"/\"}")
}

/// As far as the first call to AM.
func asked(
    _ settings: Settings = stepUpSettings(), request: String = SteppingUp.get, refused: String = SteppingUp.refused(),
    delivery: Delivery = .whole
) -> Conversation {
    let talk = Conversation(settings, delivery: delivery)
    talk.client(request)
    talk.connects()
    talk.origin(refused)
    #expect(talk.driver.dialing == Origin(scheme: .http, host: "am.test", port: 80), "\(talk.notes)")
    talk.connects()
    return talk
}
