import COpenSSL
import EventLoop
import Glibc
import Testing

@testable import ProxyDriver
@testable import TLSEngine

@Suite("TLS on a channel, in one layer and in two")
struct LayerTests {
    private let loop: Loop
    private let bufferPool = TLSBufferPool()
    private let world: SecureWorld
    private let channel: ClientChannel
    private let peer: LayeredPeer

    init() throws {
        loop = try Loop()
        world = try SecureWorld(for: "a.test")
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        channel = try ClientChannel(loop: loop, bufferPool: bufferPool, descriptor: Descriptor(owning: ends[0]))
        peer = LayeredPeer(owning: ends[1])
    }

    /// Both sides agree on one more layer.
    private func secure() throws {
        let isInner = channel.stream != nil
        peer.add(try world.trusting.stream(to: "a.test", OriginDemands(), session: nil))
        if !isInner { _ = channel.add(try world.stream()) }
        var isAdded = !isInner
        while !peer.isSecured || channel.isSecuring || !isAdded {
            peer.flush()
            if case .bytes = channel.receive() {
                try #require(!isAdded)
                isAdded = true
                _ = channel.add(try world.stream(), first: Array(channel.incoming))
            }
            peer.hear()
        }
    }

    /// What was received, as text; nil for anything else.
    private func heard() -> String? {
        guard case .bytes = channel.receive() else { return nil }
        return String(decoding: channel.incoming, as: UTF8.self)
    }

    @Test func whatCameBeforeTheEndOfTheOuterLayerIsOpened() throws {
        try secure()
        try secure()
        peer.send("hello")
        peer.finish(1)
        peer.finish(0)
        peer.flush()
        #expect(heard() == "hello")
        guard case .end(isWhole: true) = channel.receive() else {
            Issue.record("no end")
            return
        }
    }

    @Test func theEndOfTheOuterLayerIsNoneOfTheInnerOne() throws {
        try secure()
        try secure()
        peer.send("hello")
        peer.finish(0)
        peer.flush()
        #expect(heard() == "hello")
        guard case .end(isWhole: false) = channel.receive() else {
            Issue.record("not an end that may have cut something off")
            return
        }
    }

    @Test func whatCameBeforeTheOuterLayerBrokeIsOpened() throws {
        try secure()
        try secure()
        peer.send("hello")
        peer.add(raw: [23, 3, 3, 0, 20] + [UInt8](repeating: 1, count: 20))
        peer.flush()
        #expect(heard() == "hello")
        guard case .failed(let fault?) = channel.receive() else {
            Issue.record("no fault")
            return
        }
        #expect(fault.kind == .protocolError)
    }

    @Test func answersThatNobodyTakesAreNotQueuedForEver() throws {
        try secure()
        for _ in 0..<200 {
            for _ in 0..<100 {
                try peer.wantsNewKeys()
                peer.send("x")
            }
            peer.flush()
            if case .failed = channel.receive() {
                #expect(channel.queuedBytes < 256 << 10)
                return
            }
        }
        Issue.record("\(channel.queuedBytes) bytes are queued")
    }

    @Test func whoTakesTheAnswersMayHaveAsManyKeysAsItLikes() throws {
        try secure()
        for _ in 0..<5_000 {
            try peer.wantsNewKeys()
            peer.send("x")
            peer.flush()
            #expect(heard() == "x")
            peer.hear()
        }
    }
}

/// An authority, a server that it vouches for, and clients that trust it.
struct SecureWorld: Sendable {
    let trusting: OriginContext
    private let authority: CertificateAuthority
    private let key: PrivateKey
    private let leaf: Certificate

    init(for name: String) throws {
        let now = time(nil)
        authority = try .make(name: "Test", constraints: nil, now: now)
        key = try .makeP256()
        leaf = try authority.leaf(for: name, key: key, now: now)
        trusting = try OriginContext(
            usesSystemTrust: false, extraTrust: [authority.certificate], revocationLists: [], minimum: .tls12)
    }

    /// A server has a context of its own on each thread.
    func server(_ seed: SecretBytes) throws -> ServerContext {
        try ServerContext(key: key, chain: [], tickets: TicketKeys(seed: seed, now: time(nil)))
    }

    func stream(_ context: ServerContext? = nil) throws -> TLSStream {
        try (context ?? server(SecretBytes(random: 32))).stream(showing: leaf)
    }
}

/// A client in as many layers of TLS as it likes, on a socket that blocks nobody.
private final class LayeredPeer {
    private let number: Int32
    private var layers: [(stream: TLSStream, buffers: TLSBuffers)] = []
    /// What is to be written.
    private var way: [UInt8] = []

    init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    var isSecured: Bool { layers.last?.stream.negotiated != nil }

    func add(_ stream: TLSStream) {
        layers.append((stream, TLSBuffers()))
        stream.begin(layers[layers.count - 1].buffers)
        pass(from: layers.count - 1)
    }

    func add(raw bytes: [UInt8]) { way += bytes }

    func send(_ text: String) {
        guard let last = layers.last else { return }
        #expect(Array(text.utf8).withUnsafeBytes { last.stream.send($0, last.buffers) })
        pass(from: layers.count - 1)
    }

    func finish(_ depth: Int) {
        layers[depth].stream.finish(layers[depth].buffers)
        pass(from: depth)
    }

    /// With the next bytes it says that it has new keys, and wants the other side to have new ones too (RFC 8446 §4.6.3).
    func wantsNewKeys() throws {
        try layers.last?.stream.configure { (ssl) throws(TLSFault) in
            try LibraryCall.connection(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1, "SSL_key_update")
        }
    }

    private func pass(from depth: Int) {
        var records = take(depth)
        for outer in (0..<depth).reversed() {
            #expect(records.withUnsafeBytes { layers[outer].stream.send($0, layers[outer].buffers) })
            records = take(outer)
        }
        way += records
    }

    private func take(_ depth: Int) -> [UInt8] {
        defer { layers[depth].buffers.clearRecords() }
        return Array(layers[depth].buffers.records)
    }

    /// Everything at once.
    func flush() {
        guard !way.isEmpty else { return }
        #expect(way.withUnsafeBytes { write(number, $0.baseAddress, $0.count) } == way.count)
        way = []
    }

    func hear() {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(number, &bytes, bytes.count)
        guard count > 0 else { return }
        bytes.removeLast(bytes.count - count)
        for (depth, layer) in layers.enumerated() {
            bytes.withUnsafeBytes { layer.stream.received($0, layer.buffers) }
            bytes = Array(layer.buffers.decrypted)
            pass(from: depth)
        }
    }
}
