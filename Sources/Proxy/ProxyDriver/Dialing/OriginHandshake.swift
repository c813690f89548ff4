import EventLoop
internal import HTTPCodec
import ProxyCore
import TLSEngine

/// The handshakes before the first request: CONNECT to an upstream proxy, TLS, and a check of HTTP/2 with prior knowledge.
struct OriginHandshake {
    enum Outcome {
        case goesOn
        /// - Parameters:
        /// - first: bytes that the origin has sent already.
        /// - greeted: the codec that has started on the connection.
        case done(first: [UInt8], greeted: (any StreamClient)? = nil)
        /// The connection was closed during TLS.
        case ended
        /// The origin speaks HTTP/1.
        case isOther
        case failed(LeaseFailure)
    }

    private enum Stage {
        case none
        /// CONNECT to the upstream proxy.
        case connect(ConnectHandshake, UpstreamProxy)
        case tls
        case greeting(Greeting)
    }

    private let origin: Origin
    /// True if a shared connection is acceptable.
    private let takesStreams: Bool
    private let worker: Worker
    private var stage = Stage.none

    init(with origin: Origin, takesStreams: Bool, _ worker: Worker) {
        self.origin = origin
        self.takesStreams = takesStreams
        self.worker = worker
    }

    var isSecuring: Bool { if case .tls = stage { true } else { false } }

    /// Starts the handshakes on a new connection.
    mutating func begin(on channel: OriginChannel) -> Outcome {
        guard case .tunnel(let proxy) = origin.route else { return secure(channel, first: []) }
        let connect = ConnectHandshake(to: origin, by: proxy, worker.settings.engine)
        guard connect.request.withUnsafeBytes({ channel.send($0) }) else {
            return .failed(.failed("the upstream proxy \(proxy) closed the connection"))
        }
        stage = .connect(connect, proxy)
        channel.startReading()
        return .goesOn
    }

    mutating func readable(_ channel: OriginChannel) -> Outcome {
        switch stage {
        case .none: .goesOn
        case .connect(let connect, let proxy): hear(connect, by: proxy, channel)
        case .tls: handshake(channel, channel.receiveResponse())
        case .greeting(let greeting): hear(greeting, channel)
        }
    }

    // MARK: the tunnel

    private mutating func hear(_ connect: ConnectHandshake, by proxy: UpstreamProxy, _ channel: OriginChannel)
        -> Outcome
    {
        switch channel.receive() {
        case .wouldBlock, .nothing: return .goesOn
        case .end, .failed:
            return .failed(.failed("the upstream proxy \(proxy) closed the connection without a response"))
        case .bytes:
            var connect = connect
            let bytes = channel.incoming
            let answer = connect.received(bytes.span)
            stage = .connect(connect, proxy)
            switch answer {
            case .needsMore: return .goesOn
            case .established(let position): return secure(channel, first: Array(bytes[position...]))
            case .refused(let status): return .failed(.tunnelRefused(status: status))
            case .broken(let words):
                return .failed(.failed("the response of the upstream proxy \(proxy) is not valid HTTP: \(words)"))
            }
        }
    }

    // MARK: TLS

    /// Starts TLS to the origin if the scheme needs it.
    /// - Parameter first: bytes that have arrived through the tunnel.
    mutating func secure(_ channel: OriginChannel, first: [UInt8]) -> Outcome {
        guard origin.scheme == .https else { return greet(channel, first: first) }
        guard first.isEmpty else {
            return .failed(.insecure(TLSFault(.protocolError, "it spoke before it was asked")))
        }
        stage = .tls
        do throws(TLSFault) {
            let all = worker.settings.engine.settings.http2.originProtocols
            let begun = try channel.secure(speaking: takesStreams ? all : [.http11])
            channel.startReading()
            return handshake(channel, begun)
        } catch {
            return .failed(.insecure(error))
        }
    }

    private func handshake(_ channel: OriginChannel, _ received: StreamChannel.Received) -> Outcome {
        switch received {
        case .end, .failed(nil): .ended
        case .failed(let fault?): .failed(.insecure(fault))
        case .nothing, .wouldBlock: channel.stream?.negotiated != nil ? .done(first: []) : .goesOn
        case .bytes: .done(first: Array(channel.incoming))
        }
    }

    // MARK: the greeting

    /// Checks HTTP/2 with prior knowledge if only a client has claimed it.
    private mutating func greet(_ channel: OriginChannel, first: [UInt8]) -> Outcome {
        guard origin.isSaidToSpeakHTTP2, takesStreams, first.isEmpty, worker.origins.pool.known[origin] == nil,
            let codec = worker.protocols.client(channel, worker.settings.engine)
        else { return .done(first: first) }
        var hello: [UInt8] = []
        stage = .greeting(Greeting(codec, to: &hello))
        guard hello.withUnsafeBytes({ channel.send($0) }) else { return .failed(Self.silent) }
        channel.startReading()
        return .goesOn
    }

    private static let silent = LeaseFailure.failed("it closed the connection without a word of HTTP/2")

    private mutating func hear(_ greeting: Greeting, _ channel: OriginChannel) -> Outcome {
        switch channel.receive() {
        case .wouldBlock, .nothing: return .goesOn
        case .end, .failed: return .failed(Self.silent)
        case .bytes:
            var greeting = greeting
            let finding = greeting.received(channel.incoming)
            stage = .greeting(greeting)
            return switch finding {
            case .needsMore: .goesOn
            case .streams(let bytes): .done(first: bytes, greeted: greeting.codec)
            case .other: .isOther
            }
        }
    }
}
