import EventLoop
import Glibc
import TestSockets
import Testing

/// A channel that writes down what it is told.
final class Probe: Channel {
    var told: [String] = []
    var received: [UInt8] = []
    var failure: SystemError?
    var onReadable: (Probe) -> Void = { _ in }
    var onProgressed: (Probe) -> Void = { _ in }
    var onDrained: (Probe) -> Void = { _ in }

    override func readable() {
        switch read() {
        case .bytes(let count): received += loop.received(0..<count)
        case .wouldBlock: break
        case .end:
            told.append("end")
            stopReading()
        case .failed(let error):
            told.append("failed")
            failure = error
            stopReading()
        }
        onReadable(self)
    }

    override func connected(_ error: SystemError?) {
        told.append(error == nil ? "connected" : "refused")
        failure = error
    }

    override func progressed() { onProgressed(self) }

    override func drained() {
        told.append("drained")
        onDrained(self)
    }

    override func writeFailed(_ error: SystemError) {
        told.append("writeFailed")
        failure = error
    }

    override func readingRefused() { told.append("readingRefused") }

    func send(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { write($0) } }
}

/// Keeps the numbers of the sockets that it accepted.
final class Door: Listener {
    private(set) var accepted: [Int32] = []
    private(set) var failures: [SystemError] = []

    override func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) {
        accepted.append(descriptor.release())
    }

    override func acceptFailed(_ error: SystemError) { failures.append(error) }

    func closeAll() {
        for number in accepted { Glibc.close(number) }
        close()
    }
}

let loopback = SocketAddress(address: [127, 0, 0, 1], port: 0)

extension Loop {
    /// Turns until the condition holds; a condition that never does fails the test.
    func turn(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) throws {
        // something is always about to happen, so no turn waits for ever
        let pulse = try Timer(loop: self, everyMilliseconds: 5) {}
        let limit = Loop.monotonicMilliseconds() + 10_000
        while !condition(), Loop.monotonicMilliseconds() < limit { turn() }
        pulse.cancel()
        #expect(condition(), sourceLocation: sourceLocation)
    }

    /// One round trip through the loop by another way: whatever was ready before has been handled.
    func settle() throws {
        let box = try Mailbox<Void>()
        var rounds = 0
        let port = try MailboxPort(loop: self, box) { rounds += 1 }
        for round in 1...3 {
            box.post(())
            while rounds < round { turn() }
        }
        withExtendedLifetime(port) {}
    }
}

/// Two ends of a connection: a channel on a loop, and a plain descriptor.
final class Pair {
    let channel: Probe
    let peer: Int32

    /// Over TCP, where resets exist; with small buffers, so that little is under way unseen.
    init(_ loop: Loop) throws {
        let socket = try ListeningSocket(loopback)
        let address = socket.address
        var size: Int32 = 64 << 10
        let peer = try TestSocket.connected(to: address.port, receiveBuffer: size)
        self.peer = peer
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let door = try Door(loop: loop, listening: socket.take())
        try loop.turn(until: { !door.accepted.isEmpty })
        let number = try #require(door.accepted.first)
        setsockopt(number, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        door.close()
        channel = try Probe(loop: loop, descriptor: Descriptor(owning: number))
    }

    deinit {
        channel.close()
        Glibc.close(peer)
    }

    func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// What has come, without waiting; nil at the end of the stream.
    func hear() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(peer, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count == 0 { return nil }
        return count > 0 ? Array(buffer[..<count]) : []
    }
}
