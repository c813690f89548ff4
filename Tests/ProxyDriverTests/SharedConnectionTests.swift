import Authorization
import EventLoop
import Formats
import Interception
import ProxyCore
import Testing

@testable import ProxyDriver

/// Many exchanges on one client's connection and on one origin's, through the machines and sockets that serve HTTP/1.
@Suite("shared connections")
struct SharedConnectionTests {
    /// A proxy whose clients, and the origin at that port, speak in frames. AM speaks HTTP/1.
    private func proxy(
        framed port: UInt16, am: UInt16? = nil, _ change: @escaping (inout Settings) -> Void = { _ in }
    ) throws -> TestProxy {
        try TestProxy({ _, core in
            change(&core)
            guard let am else { return }
            let server = AuthorizationServer(url: "http://127.0.0.1:\(am)/am", host: "127.0.0.1", realms: ["/"])
            var policy = AuthorizationPolicy(
                resources: [.init(url: "http://127.0.0.1:\(port)/api/*")], server: server)
            policy.answers = [
                .init(callback: "NameCallback", response: .value("robot")),
                .init(callback: "PasswordCallback", response: .value("s3cret")),
            ]
            core.servers = [server]
            core.authorization = [policy]
        }) { worker in
            worker.protocols.server = { FrameServer() }
            worker.protocols.client = { channel, _ in channel.origin.port == port ? FrameClient() : nil }
        }
    }

    private static func get(_ path: String, _ authority: String) -> String {
        "GET http://\(authority)\(path) HTTP/1.1\r\nHost: \(authority)\r\n"
            + "Cookie: iPlanetDirectoryPro=SESSION-A\r\n\r\n"
    }

    private static func answer(_ body: String, status: String = "200 OK", _ fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
    }

    @Test("one exchange steps up while another is answered around it, on the same two connections")
    func stepUpBesideAnother() throws {
        let plainIsDelivered = Gate()
        let am = try TestOrigin { wire in
            let seen = wire.readAnswer()
            guard !seen.head.isEmpty else { return }
            // the other exchange goes on and ends while this one waits for AM
            plainIsDelivered.wait()
            let body = #"{"tokenId":"SESSION-B","successUrl":"/"}"#
            wire.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
        }
        let isHalfSent = Gate()
        let asked = Locked([String]())
        let advice = Base64.encode(#"{"TransactionConditionAdvice":["t-1"]}"#.utf8)
        let amPort = am.port
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            while let frame = peer.next() {
                guard frame.kind == .head else { continue }
                let line = frame.text.split(separator: "\r\n")[0]
                asked.withLock { $0.append("\(frame.stream) \(line)") }
                if line.contains("/plain") {
                    peer.send(
                        Frame(.head, frame.stream, Self.answer("half and whole")),
                        Frame(.data, frame.stream, "half and"))
                    isHalfSent.open()
                } else if line.contains("_txid=t-1") || frame.text.contains("t-1") {
                    peer.send(
                        Frame(.head, frame.stream, Self.answer("paid")), Frame(.data, frame.stream, "paid"),
                        Frame(.end, frame.stream))
                } else {
                    let fields =
                        "WWW-Authenticate: SSOADVICE realm=\"/\",am_uri=\"http://127.0.0.1:\(amPort)/am\","
                        + "advices=\"\(advice)\"\r\n"
                    // the rest of the other answer comes behind this one's
                    peer.send(
                        Frame(.head, frame.stream, Self.answer("no", status: "401 Unauthorized", fields)),
                        Frame(.data, frame.stream, "no"), Frame(.end, frame.stream), Frame(.data, 1, " whole"),
                        Frame(.end, 1))
                }
            }
        }
        let proxy = try proxy(framed: origin.port, am: am.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        client.send(Frame(.head, 1, Self.get("/plain", origin.authority)), Frame(.end, 1))
        isHalfSent.wait()
        client.send(Frame(.head, 3, Self.get("/api/pay", origin.authority)), Frame(.end, 3))
        var others: [Frame] = []
        let plain = try #require(client.message(on: 1) { others.append($0) })
        #expect(plain.head.hasPrefix("HTTP/1.1 200 OK\r\n") && plain.body == "half and whole")
        #expect(others.isEmpty, "the other exchange waits for AM")
        plainIsDelivered.open()
        let paid = try #require(client.message(on: 3))
        #expect(paid.head.hasPrefix("HTTP/1.1 200 OK\r\n") && paid.body == "paid")
        #expect(proxy.statuses(2) == [200, 200])
        #expect(origin.accepted == 1, "one connection carried them all")
        let requests = asked.withLock { $0 }
        #expect(requests.count == 3)
        #expect(requests[0] == "1 GET /plain HTTP/1.1" && requests[1] == "2 GET /api/pay HTTP/1.1")
        #expect(requests[2].hasPrefix("3 GET /api/pay"))
    }

    @Test("bodies pass in both directions at a time, and one that nobody takes holds up itself alone")
    func stalledStream() throws {
        let body = [UInt8](repeating: 0x61, count: 1 << 20)
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            var sizes: [UInt32: Int] = [:]
            var left: [UInt32: Int] = [:]
            func push(_ stream: UInt32) {
                while let rest = left[stream], rest > 0, (sizes[stream] ?? 0) > 0 {
                    let count = min(rest, sizes[stream] ?? 0, 8 << 10)
                    peer.send(Frame(.data, stream, [UInt8](repeating: 0x62, count: count)))
                    left[stream] = rest - count
                    sizes[stream]? -= count
                    if rest == count { peer.send(Frame(.end, stream)) }
                }
            }
            var uploads: [UInt32: Int] = [:]
            while let frame = peer.raw() {
                switch frame.kind {
                case .head where frame.text.hasPrefix("GET"):
                    peer.send(Frame(.head, frame.stream, "HTTP/1.1 200 OK\r\nContent-Length: \(1 << 20)\r\n\r\n"))
                    left[frame.stream] = 1 << 20
                    sizes[frame.stream] = Frame.window
                    push(frame.stream)
                case .credit:
                    sizes[frame.stream]? += frame.count
                    push(frame.stream)
                case .data:
                    uploads[frame.stream, default: 0] += frame.payload.count
                    peer.send(.credit(frame.payload.count, frame.stream))
                case .end where uploads[frame.stream] != nil:
                    let text = "\(uploads[frame.stream] ?? 0)"
                    peer.send(
                        Frame(.head, frame.stream, Self.answer(text)), Frame(.data, frame.stream, text),
                        Frame(.end, frame.stream))
                default: break
                }
            }
        }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        // nobody takes what comes on this one
        client.send(Frame(.head, 1, Self.get("/large", origin.authority)), Frame(.end, 1))
        var stalled = 0
        while stalled < Frame.window {
            let frame = try #require(client.next(grants: false))
            if frame.kind == .data { stalled += frame.payload.count }
        }
        #expect(stalled == Frame.window)
        client.send(
            Frame(
                .head, 3,
                "POST http://\(origin.authority)/up HTTP/1.1\r\nHost: \(origin.authority)\r\nContent-Length: \(body.count)\r\n\r\n"
            ))
        let sent = client.upload(body, on: 3)
        #expect(sent == body.count)
        let answer = try #require(client.message(on: 3))
        #expect(answer.body == "\(body.count)")
        client.send(Frame(.head, 5, Self.get("/other", origin.authority)), Frame(.end, 5))
        #expect(try #require(client.message(on: 5)).body.utf8.count == 1 << 20)
        // and goes on where it stood
        client.send(.credit(stalled, 1))
        var rest = 0
        while let frame = client.next(), frame.kind == .data { rest += frame.payload.count }
        #expect(stalled + rest == 1 << 20)
        #expect(origin.accepted == 1)
    }

    @Test("a client may send no more of a body than its origin takes")
    func uploadThatNobodyTakes() throws {
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            while let frame = peer.raw() {
                // the body's bytes are read, and no room granted for more
                guard frame.kind == .head, frame.text.hasPrefix("GET") else { continue }
                peer.send(
                    Frame(.head, frame.stream, Self.answer("ok")), Frame(.data, frame.stream, "ok"),
                    Frame(.end, frame.stream))
            }
        }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        client.send(
            Frame(
                .head, 1,
                "POST http://\(origin.authority)/up HTTP/1.1\r\nHost: \(origin.authority)\r\nContent-Length: 9999999\r\n\r\n"
            ))
        var granted = Frame.window
        var sent = 0
        var stream: UInt32 = 3
        while granted > sent, sent < 1 << 20 {
            client.send(Frame(.data, 1, [UInt8](repeating: 0x61, count: granted - sent)))
            sent = granted
            // whatever is granted for these bytes comes before the answer to what was asked after them
            client.send(Frame(.head, stream, Self.get("/", origin.authority)), Frame(.end, stream))
            while let frame = client.raw(), frame != Frame(.end, stream) {
                if frame.kind == .credit, frame.stream == 1 { granted += frame.count }
            }
            stream += 2
        }
        #expect(sent == granted && sent <= 3 * Frame.window, "\(sent) bytes were taken")
    }

    @Test("a stream that either side gives up leaves the others alone")
    func resets() throws {
        let isReset = Gate()
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            while let frame = peer.next() {
                switch frame.kind {
                case .head where frame.text.contains("/refused"): peer.send(Frame(.reset, frame.stream))
                case .head where frame.text.contains("/left"):
                    peer.send(Frame(.head, frame.stream, Self.answer("12")), Frame(.data, frame.stream, "1"))
                case .head:
                    peer.send(
                        Frame(.head, frame.stream, Self.answer("ok")), Frame(.data, frame.stream, "ok"),
                        Frame(.end, frame.stream))
                case .reset: isReset.open()
                default: break
                }
            }
        }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        client.send(Frame(.head, 1, Self.get("/left", origin.authority)), Frame(.end, 1))
        while let frame = client.next(), frame.kind != .data {}
        client.send(Frame(.reset, 1))
        isReset.wait()
        client.send(Frame(.head, 3, Self.get("/refused", origin.authority)), Frame(.end, 3))
        #expect(try #require(client.message(on: 3) { _ in }).head.hasPrefix("HTTP/1.1 502 "))
        client.send(Frame(.head, 5, "GET / HTTP/1.1\r\n: x\r\n\r\n"), Frame(.end, 5))
        #expect(try #require(client.message(on: 5)).head.hasPrefix("HTTP/1.1 400 "))
        client.send(Frame(.head, 7, Self.get("/", origin.authority)), Frame(.end, 7))
        #expect(try #require(client.message(on: 7)).body == "ok")
        #expect(proxy.statuses(4).sorted() == [200, 200, 400, 502])
        #expect(origin.accepted == 1)
    }

    @Test("an origin that goes in the middle ends the answers that it had begun, and no others")
    func originGoes() throws {
        let origin = try TestOrigin { wire in
            let peer = FramePeer(wire)
            while let frame = peer.next() {
                guard frame.kind == .head else { continue }
                guard !frame.text.contains("/cut") else {
                    peer.send(Frame(.head, frame.stream, Self.answer("12")), Frame(.data, frame.stream, "1"))
                    return
                }
                peer.send(
                    Frame(.head, frame.stream, Self.answer("ok")), Frame(.data, frame.stream, "ok"),
                    Frame(.end, frame.stream))
            }
        }
        let proxy = try proxy(framed: origin.port)
        defer { proxy.close() }
        let client = FramePeer(try proxy.client())
        for (stream, path) in [(UInt32(1), "/"), (3, "/cut"), (5, "/")] {
            client.send(Frame(.head, stream, Self.get(path, origin.authority)), Frame(.end, stream))
            let message = client.message(on: stream)
            #expect((message == nil) == (path == "/cut"), "\(path)")
        }
        #expect(origin.accepted == 2)
    }
}
