import TLSEngine
import Testing

/// A client's and a server's stream that talk over memory.
final class Conversation {
    let client: TLSStream
    let server: TLSStream
    private let clientBuffers = TLSBuffers()
    private let serverBuffers = TLSBuffers()
    /// What each side was sent, decrypted.
    private(set) var heardByServer: [UInt8] = []
    private(set) var heardByClient: [UInt8] = []
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    /// The most that is handed over at once.
    var piece = Int.max

    init(client: TLSStream, server: TLSStream) {
        self.client = client
        self.server = server
        client.begin(clientBuffers)
        collect()
    }

    /// Carries everything that is on its way to the other side, until there is nothing more.
    func talk() {
        while !toServer.isEmpty || !toClient.isEmpty {
            heardByServer += deliver(next(&toServer), to: server, serverBuffers)
            heardByClient += deliver(next(&toClient), to: client, clientBuffers)
        }
    }

    private func next(_ way: inout [UInt8]) -> [UInt8] {
        let count = min(way.count, piece, TLSBuffers.maxInput)
        defer { way.removeFirst(count) }
        return Array(way[..<count])
    }

    /// What is on its way to the server, to be tampered with.
    var wayToServer: [UInt8] {
        get { toServer }
        set { toServer = newValue }
    }

    func send(_ text: [UInt8], fromClient: Bool) -> Bool {
        let buffers = fromClient ? clientBuffers : serverBuffers
        let sent = text.withUnsafeBytes { (fromClient ? client : server).send($0, buffers) }
        collect()
        return sent
    }

    func finish(fromClient: Bool) {
        (fromClient ? client : server).finish(fromClient ? clientBuffers : serverBuffers)
        collect()
    }

    private func deliver(_ bytes: [UInt8], to stream: TLSStream, _ buffers: TLSBuffers) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        bytes.withUnsafeBytes { stream.received($0, buffers) }
        #expect(ErrorQueue.isEmpty)
        let heard = Array(buffers.decrypted)
        collect()
        return heard
    }

    private func collect() {
        toServer += Array(clientBuffers.records)
        clientBuffers.clearRecords()
        toClient += Array(serverBuffers.records)
        serverBuffers.clearRecords()
    }
}
