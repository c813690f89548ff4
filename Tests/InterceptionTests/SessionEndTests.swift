import HTTPCodec
import Interception
import Testing

@Suite("Requests that may end a session")
struct SessionEndTests {
    private func end(_ method: String, _ path: String, host: String = "am.test") throws -> Classifier.SessionEnd? {
        var server = AuthorizationServer(url: "https://am.test/am", host: "am.test", realms: ["/"])
        server.paths[.sessions] = "/Own/Leave"
        server.paths[.endSession] = "/own/end"
        return Classifier(servers: [server]).sessionEnd(try RequestHead(method: method, url: "https://\(host)/\(path)"))
    }

    @Test(arguments: [
        "am/json/sessions?_action=logout", "am/json//sessions?_action=logout", "am/json/sessions/?_action=logout",
        "am//json/sessions//?_action=Logout", "am/json/./sessions?a=b&_ACTION=LOGOUT",
        "am/json/x/../sessions?%5faction=log%6fut",
        "am/json/sessions;x?_action=logout", "am/json/%73essions?_action=logout",
        "am/json/sessions/TOKEN?_action=logout",
        "am/json/realms/root/realms/a/sessions?x=1&_action=refresh&_action=logout", "am/json/sessions",
        "am/json/sessions?a=b",
        "Own//Leave?_action=logout", "own/leave?_action=logout", "own/END", "am/UI/Logout", "am/ui//logout/",
        "am/identity/logout",
        "am/oauth2//connect/endSession", "am/oauth2/connect/idpEndSession", "am/IDPSloRedirect/metaAlias/idp",
        "am/SPSloInit",
        "am/idpSingleLogoutInit?metaAlias=/idp", "am/saml2/jsp/spSingleLogoutInit.jsp",
    ])
    func whatMayEndTheSessionThatItShows(_ path: String) throws {
        #expect(try end("POST", path) == .shown)
        #expect(try end("POST", path, host: "other.test") == nil)
        #expect(try end("OPTIONS", path) == nil)
    }

    @Test(arguments: ["logoutByHandle", "logoutByUser", "LOGOUTBYHANDLE", "logoutAll"])
    func whatMayEndOthers(_ action: String) throws {
        #expect(try end("POST", "am/json//sessions?_action=\(action)") == .any)
    }

    @Test(arguments: [
        "am/json/sessions?_action=refresh", "am/json/sessions?_action=getSessionInfo", "am/json/authenticate",
        "am/json/realms/root/realms/logout/users/demo", "am/oauth2/authorize", "am/XUI/", "am/json/sessions/a/b", "",
    ])
    func whatEndsNone(_ path: String) throws {
        #expect(try end("POST", path) == nil)
        #expect(try end("GET", "am/json/sessions") == nil)
    }
}
