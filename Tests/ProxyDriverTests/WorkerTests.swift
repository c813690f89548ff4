import EventLoop
import Journal
import ProxyCore
import Testing

@testable import ProxyDriver

@Suite(.serialized) struct WorkerTests {
    @Test func anOriginsConnectionServesTheNextRequest() throws {
        let (proxy, origin) = (try TestProxy(), try TestOrigin.echo())
        for _ in 0..<2 {
            // another client, the same loop
            let client = try proxy.client()
            for _ in 0..<2 {
                client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
                #expect(client.readAnswer().body == "ok")
            }
        }
        #expect(origin.accepted == 1)
        #expect(proxy.statuses(4) == [200, 200, 200, 200])
        proxy.close()
    }

    @Test func aConnectionThatTheOriginClosedIsNotUsedAgain() throws {
        let proxy = try TestProxy()
        let origin = try TestOrigin { wire in
            _ = wire.readAnswer()
            wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            wire.finish()
            _ = wire.readRest()
        }
        let client = try proxy.client()
        for number in 1...3 {
            client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
            #expect(client.readAnswer().body == "ok")
            #expect(origin.accepted == number)
        }
        proxy.close()
    }

    @Test func oneTooManyIsToldSo() throws {
        let proxy = try TestProxy { _, core in core.limits.connections = 2 }
        let origin = try TestOrigin.echo()
        var clients: [Wire] = []
        for _ in 0..<2 {
            let client = try proxy.client()
            client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
            #expect(client.readAnswer().body == "ok")
            clients.append(client)
        }
        let third = try proxy.client()
        #expect(third.readHead().hasPrefix("HTTP/1.1 503 "))
        proxy.close()
    }

    @Test func aClientThatIsNotAdmittedGetsNothing() throws {
        let proxy = try TestProxy { settings, _ in settings.clients = ClientPolicy(allow: []) }
        let client = try proxy.client()
        // also one that says nothing: it is not heard out first
        #expect(client.isAtEnd())
        proxy.close()
    }

    @Test func theNextAddressIsTriedWhenOneIsRefused() throws {
        // localhost is ::1 as well; nobody listens there
        let (proxy, origin) = (try TestProxy(), try TestOrigin.echo())
        let closed: UInt16
        do { closed = try ListeningSocket(SocketAddress(address: [127, 0, 0, 1], port: 0)).address.port }
        let client = try proxy.client()
        client.send("GET http://localhost:\(closed)/ HTTP/1.1\r\nHost: localhost:\(closed)\r\n\r\n")
        let refused = client.readAnswer()
        #expect(refused.head.hasPrefix("HTTP/1.1 502 "))
        client.send("GET http://localhost:\(origin.port)/ HTTP/1.1\r\nHost: localhost:\(origin.port)\r\n\r\n")
        #expect(client.readAnswer().body == "ok")
        proxy.close()
    }

    @Test func aBigAnswerArrivesWholeThoughItIsReadLate() throws {
        let proxy = try TestProxy()
        let size = 24 << 20
        let origin = try TestOrigin { wire in
            _ = wire.readAnswer()
            wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            for number in 0..<size >> 16 {
                piece[0] = UInt8(truncatingIfNeeded: number)
                wire.send(piece)
            }
            _ = wire.read()
        }
        let client = try proxy.client()
        client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
        #expect(client.readHead().hasPrefix("HTTP/1.1 200 "))
        for number in 0..<size >> 16 {
            let piece = client.read(exactly: 1 << 16)
            guard piece.count == 1 << 16, piece[0] == UInt8(truncatingIfNeeded: number) else {
                Issue.record("piece \(number) is wrong")
                break
            }
        }
        proxy.close()
    }

    // MARK: tunnels

    private func tunnel(_ proxy: TestProxy, _ origin: TestOrigin) throws -> Wire {
        let client = try proxy.client()
        client.send("CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n\0")
        #expect(client.readHead().hasPrefix("HTTP/1.1 200 "))
        return client
    }

    @Test func aTunnelGoesOnWhenTheClientHasEnded() throws {
        let proxy = try TestProxy()
        let origin = try TestOrigin { wire in
            let heard = wire.readRest() ?? []
            wire.send([UInt8](repeating: 1, count: 3 << 20) + [UInt8(heard.count % 251)])
        }
        let client = try tunnel(proxy, origin)
        client.send([UInt8](repeating: 0, count: 2 << 20))
        client.finish()
        let heard = client.readRest()
        #expect(heard?.count == (3 << 20) + 1)
        #expect(heard?.last == UInt8(((2 << 20) + 1) % 251))
        #expect(proxy.statuses(1) == [200])
        proxy.close()
    }

    @Test func aTunnelGoesOnWhenTheOriginHasEnded() throws {
        let proxy = try TestProxy()
        let heard = Locked(-1)
        let origin = try TestOrigin { wire in
            wire.send("bye")
            wire.finish()
            let count = wire.readRest()?.count ?? 0
            heard.signal { $0 = count }
        }
        let client = try tunnel(proxy, origin)
        #expect(client.readRest() == Array("bye".utf8))
        client.send([UInt8](repeating: 0, count: 6 << 20))
        client.finish()
        #expect(heard.wait(milliseconds: 10_000) { $0 < 0 ? nil : $0 } == (6 << 20) + 1)
        proxy.close()
    }

    // MARK: the end

    @Test func aDrainLetsExchangesFinishAndClosesWhatIsIdle() throws {
        let proxy = try TestProxy()
        let (arrived, go) = (Gate(), Gate())
        let origin = try TestOrigin { wire in
            _ = wire.readAnswer()
            arrived.open()
            go.wait()
            wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = wire.read()
        }
        let idle = try proxy.client()
        let busy = try proxy.client()
        busy.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
        arrived.wait()
        proxy.drain()
        #expect(idle.readRest() == [])
        #expect(!proxy.hasEnded)
        go.open()
        #expect(busy.readAnswer().body == "ok")
        #expect(busy.readRest() == [])
        proxy.join()
        #expect(throws: (any Error).self) { _ = try proxy.client() }
    }

    @Test func aDrainDoesNotWaitForATunnelForEver() throws {
        let proxy = try TestProxy { settings, _ in settings.drainLimit = 200 }
        let origin = try TestOrigin { wire in _ = wire.readRest() }
        let client = try tunnel(proxy, origin)
        proxy.drain()
        #expect(client.isAtEnd())
        proxy.join()
        #expect(proxy.statuses(1) == [200])
    }

    private final class Intake: FlowIntake {
        let bytes = Locked(0)
        func take(_ batch: FlowBatch) { bytes.withLock { $0 += batch.bytes.count } }
    }

    /// What the next look round would have handed on.
    @Test func theJournalHasWhatIsLeftAtTheEnd() throws {
        let journal = Intake()
        let turned = try TurnedWorker { settings, core in
            settings.journal = journal
            core.disclosure.capture = CaptureLimits(body: 1 << 10, total: 1 << 10)
        }
        let (worker, connection) = (turned.worker, turned.worker.connectToNobody())
        connection.machine.received(Array("GET / HTTP/1.1\r\n\r\n".utf8).span, now: worker.loop.now, &worker.out)
        connection.settle()
        #expect(journal.bytes.withLock { $0 } == 0)
        turned.end()
        #expect(journal.bytes.withLock { $0 } > 0)
    }

    @Test func aStopWaitsForNobody() throws {
        let proxy = try TestProxy()
        let origin = try TestOrigin { wire in _ = wire.readRest() }
        let client = try tunnel(proxy, origin)
        proxy.close()
        #expect(client.isAtEnd())
    }
}
