import HTTPCodec
import Interception
import TLSEngine
import Testing

@testable import ProxyCore

/// What interceptors are told of a failure, beside the words of RFC 9209 that the client is told.
struct OriginFaultTests {
    private static let origin = Origin(scheme: .https, host: "a.example.com", port: 443)

    private static let failures: [(LeaseFailure, OriginFault?)] = [
        (.unresolvable("no such name"), .unresolvable), (.unresolved, .unresolved),
        (.overloaded, .unresolvable), (.tooManyNames, .unresolvable), (.refused("refused"), .connectionRefused),
        (.timedOut, .connectionTimeout), (.failed("no route"), .unreachable), (.forbidden("private"), nil),
        (.loop, nil), (.tunnelRefused(status: 503), .proxyRefused), (.tunnelRefused(status: 407), .proxyRefused),
        (.insecure(TLSFault(.local, "no memory")), .tls), (.insecure(TLSFault(.certificate, "expired")), .tls),
        (.insecure(TLSFault(.alert(40), "handshake failure")), .tls),
    ]

    @Test(arguments: failures)
    func failuresOfALease(failure: LeaseFailure, fault: OriginFault?) {
        #expect(ProxyError(failure, Self.origin).fault == fault)
    }

    @Test func timeOfEachStep() {
        #expect(ProxyError(.timedOut, at: .resolving, Self.origin).fault == .unresolved)
        #expect(ProxyError(.timedOut, at: .connecting, Self.origin).fault == .connectionTimeout)
        #expect(ProxyError(.timedOut, at: .securing, Self.origin).fault == .handshakeTimeout)
    }

    @Test func failuresOfAnAnswer() {
        #expect(ProxyError.terminated(.connection(nil)).fault == .terminated)
        #expect(ProxyError.incomplete(.connection(nil)).fault == .incomplete)
        #expect(ProxyError.responseTimeout.fault == .responseTimeout)
        #expect(ProxyError.badResponse("no status").fault == .malformed)
        #expect(ProxyError.bodyTimeout.fault == nil)
        #expect(ProxyError.noRoom("a body").fault == nil)
    }
}
