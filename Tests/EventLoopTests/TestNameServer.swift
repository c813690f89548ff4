import EventLoop
import Glibc
import TestSockets

/// A DNS server on a port of its own, over UDP and TCP (RFC 1035 §4): a closure says what it answers.
final class TestNameServer: Sendable {
    struct Question: Hashable, Sendable {
        var name: String
        var type: UInt16
        var isTCP = false
    }

    struct Record: Sendable {
        var type: UInt16
        var data: [UInt8]
        var life: UInt32 = 300
        /// A name; nil for the one that was asked for.
        var owner: String?

        static func a(_ last: UInt8, life: UInt32 = 300, owner: String? = nil) -> Record {
            Record(type: 1, data: [192, 0, 2, last], life: life, owner: owner)
        }

        static func aaaa(_ last: UInt8) -> Record {
            Record(type: 28, data: [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [last])
        }

        static func alias(_ name: String, life: UInt32 = 300) -> Record {
            Record(type: 5, data: TestNameServer.name(name), life: life)
        }
    }

    enum Reply: Sendable {
        case records([Record])
        case code(UInt16)
        case truncated
        case bytes([UInt8])
        case nothing
    }

    let port: UInt16
    var authority: String { "127.0.0.1:\(port)" }
    private let udp: Int32
    private let tcp: Int32
    private let seen = Locked<[Question]>([])

    init(_ answer: @escaping @Sendable (Question) -> Reply) throws {
        let (tcp, udp, port) = try TestSocket.listeningForBoth()
        (self.tcp, self.udp, self.port) = (tcp, udp, port)
        let seen = seen
        try SystemThread(name: "dns-udp") { Self.serveUDP(udp, seen, answer) }.detach()
        try SystemThread(name: "dns-tcp") { Self.serveTCP(tcp, seen, answer) }.detach()
    }

    deinit {
        shutdown(udp, Int32(SHUT_RDWR))
        shutdown(tcp, Int32(SHUT_RDWR))
    }

    /// How often that was asked.
    func asked(_ name: String, _ type: UInt16 = 1, tcp: Bool = false) -> Int {
        seen.withLock { $0.count { $0 == Question(name: name, type: type, isTCP: tcp) } }
    }

    static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    private static func serveUDP(
        _ number: Int32, _ seen: Locked<[Question]>, _ answer: (Question) -> Reply
    ) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var peer = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let (count, response) = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> (Int, Int) in
                    let count = recvfrom(number, &buffer, buffer.count, 0, address, &length)
                    guard count > 0, let bytes = respond(Array(buffer[..<count]), false, seen, answer) else {
                        return (count, 0)
                    }
                    return (count, sendto(number, bytes, bytes.count, 0, address, length))
                }
            }
            guard count > 0, response >= 0 else { return }
        }
    }

    private static func serveTCP(_ number: Int32, _ seen: Locked<[Question]>, _ answer: (Question) -> Reply) {
        while true {
            let accepted = accept(number, nil, nil)
            guard accepted >= 0 else { return }
            var head = [UInt8](repeating: 0, count: 2)
            while recv(accepted, &head, 2, Int32(MSG_WAITALL)) == 2 {
                var message = [UInt8](repeating: 0, count: Int(head[0]) << 8 | Int(head[1]))
                guard recv(accepted, &message, message.count, Int32(MSG_WAITALL)) == message.count,
                    let bytes = respond(message, true, seen, answer)
                else { break }
                let framed = words([UInt16(bytes.count)]) + bytes
                send(accepted, framed, framed.count, Int32(MSG_NOSIGNAL))
            }
            close(accepted)
        }
    }

    private static func words(_ words: [UInt16]) -> [UInt8] { words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }

    private static func respond(
        _ message: [UInt8], _ isTCP: Bool, _ seen: Locked<[Question]>, _ answer: (Question) -> Reply
    ) -> [UInt8]? {
        var labels: [String] = []
        var place = 12
        while place < message.count, message[place] != 0 {
            let end = place + 1 + Int(message[place])
            labels.append(String(decoding: message[place + 1..<end], as: UTF8.self).lowercased())
            place = end
        }
        let type = UInt16(message[place + 1]) << 8 | UInt16(message[place + 2])
        let question = Question(name: labels.joined(separator: "."), type: type, isTCP: isTCP)
        seen.withLock { $0.append(question) }
        func reply(_ flags: UInt16, _ records: [Record]) -> [UInt8] {
            var out = Array(message[..<2]) + words([flags, 1, UInt16(records.count), 0, 0])
            out += message[12..<place + 5]
            for record in records {
                out += record.owner.map { name($0) } ?? [0xC0, 12]
                out += words([record.type, 1, UInt16(record.life >> 16), UInt16(record.life & 0xFFFF)])
                out += words([UInt16(record.data.count)]) + record.data
            }
            return out
        }
        switch answer(question) {
        case .records(let records): return reply(0x8180, records)
        case .code(let code): return reply(0x8180 | code, [])
        case .truncated: return reply(0x8380, [])
        case .bytes(let bytes): return Array(message[..<2]) + bytes
        case .nothing: return nil
        }
    }
}
