import Testing

@testable import HTTPCodec

@Suite("Schemes that authenticate a connection")
struct ConnectionSchemeTests {
    private func fields(_ lines: [(String, String)]) -> FieldTable {
        var fields = FieldTable()
        for (name, value) in lines { fields.add(name, value) }
        return fields
    }

    @Test(arguments: [
        "NTLM", "ntlm TlRMTVNTUAAB", "Negotiate", "Negotiate YII=", "kerberos x", "Nego2", "CredSSP TlRM",
        "Basic realm=\"a\", NTLM", "Basic realm=\"a\",Negotiate", "Bearer, , NEGOTIATE ,Basic realm=b",
    ])
    func whatNamesOne(_ value: String) {
        for name in ["WWW-Authenticate", "proxy-authenticate"] {
            #expect(fields([("Date", "x"), (name, value)]).hasConnectionChallenge, "\(name): \(value)")
        }
        #expect(fields([("Host", "a"), ("Authorization", value)]).hasConnectionCredentials)
        // and a second line
        #expect(fields([("Authorization", "Basic eDp5"), ("authorization", value)]).hasConnectionCredentials)
    }

    @Test(arguments: [
        "", ",", " ", "Basic realm=\"x\"", "Bearer NTLM", "NTLMv3", "xNTLM", "Digest realm=Negotiate", "Negotiat",
        "Basic NTLM",
    ])
    func whatNamesNone(_ value: String) {
        #expect(!fields([("WWW-Authenticate", value), ("Proxy-Authenticate", value)]).hasConnectionChallenge)
        #expect(!fields([("Authorization", value)]).hasConnectionCredentials)
    }

    @Test func eachFieldCountsOnItsOwnSideAlone() {
        #expect(!fields([("WWW-Authenticate", "NTLM"), ("X-Authorization", "NTLM")]).hasConnectionCredentials)
        #expect(!fields([("Authorization", "NTLM"), ("Authentication-Info", "NTLM")]).hasConnectionChallenge)
        // the server's own word that the connection was authenticated ([MS-N2HT] §2.2.1)
        #expect(fields([("persistent-auth", "true")]).hasConnectionChallenge)
    }
}
