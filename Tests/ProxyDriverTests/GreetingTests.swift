import HTTP2
import HTTPCodec
import Testing

@testable import ProxyDriver

@Suite("whether HTTP/2 is spoken where somebody says so")
struct GreetingTests {
    private func finding(_ pieces: [UInt8]...) -> String {
        var hello: [UInt8] = []
        var greeting = Greeting(HTTP2Client(limits: HeadLimits()), to: &hello)
        #expect(String(decoding: hello.prefix(14), as: UTF8.self) == "PRI * HTTP/2.0")
        var finding = Greeting.Finding.needsMore
        for piece in pieces { finding = piece.withUnsafeBufferPointer { greeting.received($0) } }
        switch finding {
        case .needsMore: return "more"
        case .streams(let bytes): return "streams \(bytes.count)"
        case .other: return "other"
        }
    }

    @Test func settingsTell() {
        #expect(finding([0, 0, 0, 4, 0, 0, 0, 0, 0]) == "streams 9")
        #expect(finding([0, 0, 6, 4, 0], [0, 0, 0, 0, 0, 3, 0, 0, 0, 100]) == "streams 15")
        #expect(finding([0, 0, 6, 4, 0, 0, 0, 0]) == "more")
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "<html>", "SSH-2.0-x\r\n"])
    func othersDoNot(_ answer: String) { #expect(finding(Array(answer.utf8)) == "other") }

    @Test func anAcknowledgementComesNotFirst() { #expect(finding([0, 0, 0, 4, 1, 0, 0, 0, 0]) == "other") }

    @Test func framesOfStreamsComeNotFirst() { #expect(finding([0, 0, 0, 4, 0, 0, 0, 0, 1]) == "other") }
}
