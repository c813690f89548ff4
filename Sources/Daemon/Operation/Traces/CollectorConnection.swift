import EventLoop
import TLSEngine

/// A connection to a collector, with or without TLS.
final class CollectorConnection {
    private let connection: BlockingConnection
    private let stream: TLSStream?
    private let buffers = TLSBuffers()
    private var plain: [UInt8] = []

    /// - Throws: `SystemError` or `TLSFault`.
    init(_ connection: consuming BlockingConnection, host: String, trust: OriginContext?) throws {
        self.connection = connection
        stream = try trust?.stream(to: host, OriginDemands(), session: nil)
        guard let stream else { return }
        stream.begin(buffers)
        try flush()
        while stream.state == .handshaking {
            let piece = try self.connection.receive()
            guard !piece.isEmpty else { throw TLSFault.closedInHandshake }
            try decrypt(piece)
        }
    }

    func send(_ bytes: [UInt8]) throws {
        guard let stream else { return try connection.send(bytes) }
        guard bytes.withUnsafeBytes({ stream.send($0, buffers) }) else { throw TLSFault.closedInHandshake }
        try flush()
    }

    /// The received bytes; empty at the end.
    func receive() throws -> [UInt8] {
        guard let stream else { return try connection.receive() }
        while plain.isEmpty, stream.state == .open {
            let piece = try connection.receive()
            guard !piece.isEmpty else { return [] }
            try decrypt(piece)
        }
        defer { plain = [] }
        return plain
    }

    private func decrypt(_ piece: [UInt8]) throws {
        guard let stream else { return }
        piece.withUnsafeBytes { stream.received($0, buffers) }
        plain += buffers.decrypted
        try flush()
        if case .failed(let fault) = stream.state { throw fault }
    }

    /// Sends the records that TLS has produced.
    private func flush() throws {
        guard !buffers.records.isEmpty else { return }
        try connection.send(Array(buffers.records))
        buffers.clearRecords()
    }
}
