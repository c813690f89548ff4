import Interceptors
import Testing

/// Messages as their values tell.
@Suite struct MessageTests {
    @Test func headersKeepOrderCaseAndRepetition() {
        var headers: Headers = ["Host": "a.test", "x-Tag": "1", "Accept": "*/*", "X-TAG": "2"]
        #expect(headers["X-Tag"] == "1" && headers.values("x-tag") == ["1", "2"] && headers["None"] == nil)
        headers["X-Tag"] = "3"
        #expect(headers == ["Host": "a.test", "x-Tag": "3", "Accept": "*/*"])
        headers.add("Accept", "text/html")
        headers["New"] = "4"
        #expect(headers.fields.map(\.name) == ["Host", "x-Tag", "Accept", "Accept", "New"])
        headers["accept"] = nil
        headers.remove("x-tag")
        #expect(headers == ["Host": "a.test", "New": "4"])
    }

    @Test func theQueryIsChangedInTheURL() {
        var request = Request(url: "https://a.test:1/p%20q?b=%7E&a=1&&c")
        #expect(request.query["b"] == "~" && request.query["c"] == "" && request.query["d"] == nil)
        request.query["a"] = "x y&z"
        #expect(request.url == "https://a.test:1/p%20q?b=%7E&a=x%20y%26z&&c")
        request.query.add("a", "2")
        #expect(request.query.values("a") == ["x y&z", "2"])
        for name in ["a", "b", "c", ""] { request.query[name] = nil }
        #expect(request.url == "https://a.test:1/p%20q")
        request.query["new"] = "é"
        #expect(request.url == "https://a.test:1/p%20q?new=%C3%A9")
    }

    @Test func bodiesAsText() {
        var request = Request(method: "POST", url: "http://a.test/", body: Array("ü".utf8))
        #expect(request.text == "ü")
        request.text = "ok"
        #expect(request.body == [0x6F, 0x6B])
        request.body = [0xFF]
        #expect(request.text == nil)
        var response = Response()
        #expect(response.text == nil && response.status == 200)
        response.text = "x"
        #expect(response.body == [0x78])
    }

    @Test func anActionIsComparedWithItsName() {
        let action = Action(type: .startAuthenticate, payload: .init(tree: "Login", type: "service"))
        #expect(action.type == "START_AUTHENTICATE" && action.type != .authenticate && "\(action.type)".count == 18)
        #expect(Action(type: .none).type == "")
    }
}
