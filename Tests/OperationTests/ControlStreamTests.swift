import Control
import EventLoop
import Formats
import Foundation
import Testing

@testable import Operation

/// A door of the interface on a loop of its own, with routes that answer late and stream.
private final class Door: Sendable {
    let path: String
    private let stop: Mailbox<Void>
    private let thread: SystemThread
    let followers = Locked<[any ControlFollower]>([])
    let gone = Locked(0)
    /// Those that `/slow` has not kept.
    let late = Locked<[ControlPromise]>([])

    init(_ folder: TemporaryFolder) throws {
        path = folder.file("door.sock")
        let (path, followers, gone, late) = (path, followers, gone, late)
        let stop = try Mailbox<Void>()
        let isOpen = Locked(false)
        self.stop = stop
        thread = try SystemThread(name: "door") {
            guard let loop = try? Loop(), let socket = try? ControlSocket(at: path),
                let server = try? ControlServer(loop, .socket(socket), Self.router(followers, gone, late)),
                let port = try? MailboxPort(loop: loop, stop, { loop.stop() })
            else { return }
            isOpen.signal { $0 = true }
            loop.run()
            server.end()
            withExtendedLifetime(port) {}
        }
        #expect(isOpen.wait(milliseconds: 10_000) { $0 ? true : nil } == true)
    }

    func close() {
        stop.post(())
        thread.join()
    }

    private static func router(
        _ followers: Locked<[any ControlFollower]>, _ gone: Locked<Int>, _ late: Locked<[ControlPromise]>
    ) -> ControlRouter {
        func route(_ path: String, _ handler: @escaping ControlRoute.Handler) -> ControlRoute {
            ControlRoute("GET", path, path, "", answers: [RouteAnswer("", .any)], handler)
        }
        return ControlRouter([
            route("/later") { _ throws(ControlProblem) in
                .later { promise in Thread.detachNewThread { promise.keep(ControlAnswer(.string("done"))) } }
            },
            route("/twice") { _ throws(ControlProblem) in
                .later { promise in
                    promise.keep(ControlAnswer(.integer(1)))
                    promise.keep(ControlAnswer(.integer(2)))
                }
            },
            route("/dropped") { _ throws(ControlProblem) in .later { _ in } },
            route("/slow") { _ throws(ControlProblem) in
                .later(within: 1) { promise in late.signal { $0.append(promise) } }
            },
            route("/wait") { _ throws(ControlProblem) in
                .waiting(within: 60_000, late: ControlProblem(504, "late")) { promise in
                    late.signal { $0.append(promise) }
                }
            },
            route("/follow") { _ throws(ControlProblem) in
                .following { follower in
                    followers.signal { $0.append(follower) }
                    return { gone.signal { $0 += 1 } }
                }
            },
        ])
    }

    func connect() throws -> BlockingConnection { try BlockingConnection(path: path, withinMilliseconds: 30_000) }
}

private func request(_ path: String, method: String = "GET", _ more: String = "") -> [UInt8] {
    Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(more)\r\n".utf8)
}

/// Everything up to that text, or to the end.
private func read(_ connection: borrowing BlockingConnection, until mark: String) throws -> String {
    var text = ""
    while !text.contains(mark) {
        let bytes = try connection.receive()
        guard !bytes.isEmpty else { break }
        text += String(decoding: bytes, as: UTF8.self)
    }
    return text
}

@Suite("Answers that come later, and streams", .serialized)
struct ControlStreamTests {
    private let folder: TemporaryFolder
    private let door: Door

    init() throws {
        folder = try TemporaryFolder()
        door = try Door(folder)
    }

    private func answer(_ path: String) throws -> String {
        let connection = try door.connect()
        try connection.send(request(path, "Connection: close\r\n"))
        return try read(connection, until: "nothing")
    }

    @Test func anAnswerMayComeFromAnotherThread() throws {
        defer { door.close() }
        let later = try answer("/later")
        #expect(later.hasPrefix("HTTP/1.1 200 ") && later.hasSuffix("\r\n\r\n\"done\"\n"))
        #expect(try answer("/twice").hasSuffix("\r\n\r\n1\n"))
        let dropped = try answer("/dropped")
        #expect(dropped.hasPrefix("HTTP/1.1 503 ") && dropped.contains("the request was dropped without a response"))
        // what comes too late is no answer to the next request
        let connection = try door.connect()
        try connection.send(request("/slow"))
        let refused = try read(connection, until: "}\n")
        #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("Retry-After: 1"))
        let promise = try #require(door.late.wait(milliseconds: 10_000) { $0.first })
        promise.keep(ControlAnswer(.string("late")))
        try connection.send(request("/later", "Connection: close\r\n"))
        let last = try read(connection, until: "nothing")
        #expect(last.hasSuffix("\"done\"\n") && !last.contains("late"))
    }

    @Test func eventsGoToWhoFollows() throws {
        defer { door.close() }
        let connection = try door.connect()
        try connection.send(request("/follow"))
        let head = try read(connection, until: "\r\n\r\n")
        #expect(head.contains("Content-Type: text/event-stream") && head.contains("Transfer-Encoding: chunked"))
        let follower = try #require(door.followers.wait(milliseconds: 10_000) { $0.first })
        #expect(follower.send(ServerEvent("flow", data: .integer(1))))
        #expect(try read(connection, until: "data: 1\n\n").contains("event: flow\n"))
        follower.send(ServerEvent(data: .string("last")))
        follower.end()
        let rest = try read(connection, until: "nothing")
        #expect(rest.contains("data: \"last\"\n\n") && rest.hasSuffix("0\r\n\r\n"))
        #expect(!follower.send(ServerEvent(data: .null)))
        #expect(door.gone.wait(milliseconds: 10_000) { $0 == 1 ? true : nil } == true)
    }

    @Test func whoDoesNotReadIsToldWhatItLost() throws {
        defer { door.close() }
        let connection = try door.connect()
        try connection.send(request("/follow"))
        let follower = try #require(door.followers.wait(milliseconds: 10_000) { $0.first })
        let event = ServerEvent(data: .string(String(repeating: "x", count: 10_000)))
        for _ in 0..<1_000 { follower.send(event) }
        let text = try read(connection, until: "event: lost\ndata: {\"count\":")
        #expect(text.utf8.count < 4 << 20)
        let after = ServerEvent("after", data: .null)
        // what follows is sent again once there is room
        var more = ""
        while !more.contains("event: after") {
            follower.send(after)
            more += String(decoding: try connection.receive(), as: UTF8.self)
        }
    }

    @Test func thereIsRoomForSoMany() throws {
        defer { door.close() }
        func follow() throws -> BlockingConnection {
            let connection = try door.connect()
            try connection.send(request("/follow"))
            return connection
        }
        let first = try follow()
        #expect(try read(first, until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        try withFollowers(ControlLimits.followers - 1) {
            let late = try follow()
            let refused = try read(late, until: "already follow flows")
            #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("Retry-After: 10"))
            // others are answered all the same
            #expect(try answer("/later").hasPrefix("HTTP/1.1 200 "))
        }
        #expect(door.gone.wait(milliseconds: 10_000) { $0 == ControlLimits.followers - 1 ? true : nil } == true)
        #expect(try read(follow(), until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        // it was there all the while
        try first.send([])
    }

    /// For flows that are to come, beside those who follow; and it ends with its connection.
    @Test func thereIsRoomForSoManyWhoWait() throws {
        defer { door.close() }
        func wait() throws -> BlockingConnection {
            let connection = try door.connect()
            try connection.send(request("/wait"))
            return connection
        }
        try withFollowers(ControlLimits.followers) {
            try withWaiters(ControlLimits.waiters) {
                #expect(door.late.withLock { $0.allSatisfy { $0.isWanted } })
                let late = try wait()
                let refused = try read(
                    late,
                    until:
                        "\(ControlLimits.waiters) requests already wait for flows; try again")
                #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("Retry-After: 10"))
                #expect(try answer("/later").hasPrefix("HTTP/1.1 200 "))
            }
            // those are gone who wanted to know
            while door.late.withLock({ $0.contains { $0.isWanted } }) { _ = try answer("/later") }
        }
        let promises = door.late.withLock { promises in
            defer { promises = [] }
            return promises
        }
        #expect(promises.count == ControlLimits.waiters)
        let connection = try wait()
        let promise = try #require(door.late.wait(milliseconds: 10_000) { $0.first })
        #expect(promise.isWanted)
        promise.keep(ControlAnswer(.string("there")))
        #expect(try read(connection, until: "\"there\"").hasPrefix("HTTP/1.1 200 ") && !promise.isWanted)
    }

    private func withWaiters(_ count: Int, _ body: () throws -> Void) throws {
        guard count > 0 else { return try body() }
        let connection = try door.connect()
        try connection.send(request("/wait"))
        let place = ControlLimits.waiters - count
        #expect(door.late.wait(milliseconds: 10_000) { $0.count > place ? true : nil } == true)
        try withWaiters(count - 1, body)
        try connection.send([])
    }

    /// So many more follow meanwhile.
    private func withFollowers(_ count: Int, _ body: () throws -> Void) throws {
        guard count > 0 else { return try body() }
        let connection = try door.connect()
        try connection.send(request("/follow"))
        #expect(try read(connection, until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        try withFollowers(count - 1, body)
        try connection.send([])
    }

    @Test func aHeadOfAStreamHasNoEvents() throws {
        defer { door.close() }
        let connection = try door.connect()
        try connection.send(request("/follow", method: "HEAD"))
        let text = try read(connection, until: "nothing")
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("\r\n\r\n"))
        #expect(door.followers.withLock { $0.isEmpty })
    }
}
