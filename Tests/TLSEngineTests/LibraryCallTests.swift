import COpenSSL
import Testing

@testable import TLSEngine

@Suite("Results of OpenSSL's calls")
struct LibraryCallTests {
    /// A list that is not taken must not leave wider defaults in force without a word.
    @Test(arguments: [
        (HandshakeParameters(minimum: .tls12, ciphers: "NO-SUCH-CIPHER"), "SSL_CTX_set_cipher_list"),
        (HandshakeParameters(minimum: .tls12, suites: "TLS_NO_SUCH_SUITE"), "SSL_CTX_set_ciphersuites"),
        (HandshakeParameters(minimum: .tls12, groups: "NoSuchGroup"), "SSL_CTX_set1_groups_list"),
    ])
    func whatIsNotTakenIsTold(_ offer: HandshakeParameters, _ call: String) throws {
        let context = try #require(SSL_CTX_new(TLS_method()))
        defer { SSL_CTX_free(context) }
        do throws(MaterialFault) {
            try offer.apply(to: context)
            Issue.record("\(call) was not looked at")
        } catch {
            #expect(error.words.hasPrefix("cannot be used: OpenSSL's \(call) failed"))
        }
        #expect(ErrorQueue.isEmpty)
    }

    @Test func whatIsTakenIsInForce() throws {
        let context = try #require(SSL_CTX_new(TLS_method()))
        defer { SSL_CTX_free(context) }
        try HandshakeParameters(minimum: .tls13, ciphers: "ECDHE+CHACHA20").apply(to: context)
        #expect(SSL_CTX_ctrl(context, SSL_CTRL_GET_MIN_PROTO_VERSION, 0, nil) == Int(TLS1_3_VERSION))
    }

    @Test func aConnectionsFaultNamesTheCallToo() throws {
        #expect(throws: TLSFault(.local, "the connection could not be set up: OpenSSL's SSL_set1_host failed")) {
            try LibraryCall.connection(false, "SSL_set1_host")
        }
    }
}
