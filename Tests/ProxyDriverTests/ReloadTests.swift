import EventLoop
import ProxyCore
import TLSEngine
import Testing

@testable import ProxyDriver

@Suite("Connections under way while the configuration changes")
struct ReloadTests {
    /// Neither the connection nor what it may be resumed by: both were agreed on by other rules.
    @Test(arguments: ["", "Connection: close\r\n"])
    func whatWasAgreedOnBeforeServesNobodyAfterwards(_ field: String) throws {
        let world = try SecureWorld(for: "127.0.0.1")
        let seed = try SecretBytes(random: 32)
        let asked = Gate()
        let gate = Gate()
        let resumed = Locked<[Bool]>([])
        let origin = try TestOrigin { wire in
            guard let secure = try? SecureWire(wire, try world.stream(try world.server(seed))) else { return }
            resumed.withLock { $0.append(secure.isResumed) }
            while secure.readHead() {
                asked.open()
                gate.wait()
                secure.send("HTTP/1.1 200 OK\r\n\(field)Content-Length: 2\r\n\r\nok")
            }
        }
        let echo = try TestOrigin.echo()
        let proxy = try TestProxy { settings, _ in settings.tls.origins = world.trusting }
        let request = "GET https://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n"
        let client = try proxy.client()
        client.send(request)
        asked.wait()
        proxy.adopt()
        // the second answer at the latest comes when the message has been read
        let other = try proxy.client()
        for _ in 0..<2 {
            other.send("GET http://\(echo.authority)/ HTTP/1.1\r\nHost: \(echo.authority)\r\n\r\n")
            #expect(other.readAnswer().body == "ok")
        }
        gate.open()
        #expect(client.readAnswer().body == "ok")
        client.send(request)
        #expect(client.readAnswer().body == "ok")
        #expect(origin.accepted == 2 && resumed.withLock { $0 } == [false, false])
        // by the same rules it does serve
        client.send(request)
        #expect(client.readAnswer().body == "ok")
        #expect(field.isEmpty ? origin.accepted == 2 : resumed.withLock { $0 } == [false, false, true])
        proxy.close()
    }

    /// It was given out before the new rules, whole, and nothing is under way.
    @Test func whatWasGivenBeforeIsNotResumedAfterwards() throws {
        let world = try SecureWorld(for: "127.0.0.1")
        let seed = try SecretBytes(random: 32)
        let resumed = Locked<[Bool]>([])
        let origin = try TestOrigin { wire in
            guard let secure = try? SecureWire(wire, try world.stream(try world.server(seed))) else { return }
            resumed.withLock { $0.append(secure.isResumed) }
            while secure.readHead() {
                secure.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let proxy = try TestProxy { settings, _ in settings.tls.origins = world.trusting }
        func ask() throws {
            let client = try proxy.client()
            client.send("GET https://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
            #expect(client.readAnswer().body == "ok")
        }
        try ask()
        try ask()
        #expect(resumed.withLock { $0 } == [false, true])
        proxy.adopt()
        try ask()
        #expect(resumed.withLock { $0 } == [false, true, false])
        proxy.close()
    }

    @Test func anIdleConnectionEndsAndAnAddressThatIsDeniedNowIsNotUsed() throws {
        let ended = Gate()
        let origin = try TestOrigin { wire in
            _ = wire.readAnswer()
            wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            if wire.isAtEnd() { ended.open() }
        }
        let proxy = try TestProxy()
        let client = try proxy.client()
        let request = "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n"
        client.send(request)
        #expect(client.readAnswer().body == "ok")
        proxy.adopt {
            $0.destinations = DestinationPolicy(
                allow: $0.destinations.allow, deny: ["127.0.0.0/8"].compactMap { DestinationPattern($0) })
        }
        ended.wait()
        client.send(request)
        #expect(client.readAnswer().head.hasPrefix("HTTP/1.1 403 "))
        #expect(origin.accepted == 1)
        proxy.close()
    }

    @Test func aTunnelInWhichNothingWasSaidDoesNotOutliveItsPermission() throws {
        let ended = Gate()
        let origin = try TestOrigin { if $0.isAtEnd() { ended.open() } }
        let proxy = try TestProxy()
        let client = try proxy.client()
        client.send("CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
        #expect(client.readHead().hasPrefix("HTTP/1.1 200 "))
        proxy.adopt {
            $0.destinations = DestinationPolicy(
                allow: $0.destinations.allow, deny: ["127.0.0.0/8"].compactMap { DestinationPattern($0) })
        }
        ended.wait()
        #expect(client.isAtEnd() && origin.accepted == 1)
        proxy.close()
    }

    @Test func aClientThatIsNotAdmittedAnyMoreIsLetGoOf() throws {
        let proxy = try TestProxy()
        let client = try proxy.client()
        client.send("GET http://usher.invalid/ HTTP/1.1\r\nHost: usher.invalid\r\n\r\n")
        #expect(client.readAnswer().head.hasPrefix("HTTP/1.1 50"))
        proxy.adopt { $0.clients = ClientPolicy(allow: []) }
        #expect(client.isAtEnd())
        proxy.close()
    }
}

/// The server's side of TLS on a wire. What is to be resumed by goes out with the first answer.
private final class SecureWire {
    private let wire: Wire
    private let stream: TLSStream
    private let buffers = TLSBuffers()
    private var plain: [UInt8] = []
    private var late: [UInt8] = []
    private(set) var isResumed = false

    private struct Broken: Error {}

    init(_ wire: Wire, _ stream: TLSStream) throws {
        self.wire = wire
        self.stream = stream
        while stream.negotiated == nil {
            guard hear() else { throw Broken() }
        }
        isResumed = stream.negotiated?.isResumed == true
    }

    private func hear() -> Bool {
        guard let bytes = wire.read(), !bytes.isEmpty else { return false }
        bytes.withUnsafeBytes { stream.received($0, buffers) }
        plain += Array(buffers.decrypted)
        let records = Array(buffers.records)
        buffers.clearRecords()
        if stream.negotiated == nil { wire.send(records) } else { late += records }
        return true
    }

    func readHead() -> Bool {
        while !plain.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard hear() else { return false }
        }
        plain = []
        return true
    }

    func send(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { stream.send($0, buffers) }
        wire.send(late + Array(buffers.records))
        late = []
        buffers.clearRecords()
    }
}
