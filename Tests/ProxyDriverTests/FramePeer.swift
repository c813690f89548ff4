import Testing

/// Either end of a connection that speaks in frames, as a test holds it.
final class FramePeer {
    let wire: Wire
    private var bytes: [UInt8] = []

    init(_ wire: Wire) { self.wire = wire }

    func send(_ frames: Frame...) { wire.send(frames.flatMap(\.written)) }

    /// The next frame but credits, which are granted for what is read; nil at the end, or when none comes in time.
    func next(grants: Bool = true) -> Frame? {
        while true {
            if let frame = whole() {
                if frame.kind == .credit { continue }
                if grants, frame.kind == .data { send(.credit(frame.payload.count, frame.stream)) }
                return frame
            }
            guard let more = wire.read(), !more.isEmpty else { return nil }
            bytes += more
        }
    }

    /// The next frame, whatever it is.
    func raw() -> Frame? {
        while true {
            if let frame = whole() { return frame }
            guard let more = wire.read(), !more.isEmpty else { return nil }
            bytes += more
        }
    }

    /// Sends a body as far as the proxy grants it, and its end. Frames of other streams are let go.
    /// - Returns: how many bytes went.
    func upload(_ body: [UInt8], on stream: UInt32) -> Int {
        var window = Frame.window
        var sent = 0
        while sent < body.count {
            let count = min(window, body.count - sent, 16 << 10)
            if count > 0 {
                send(Frame(.data, stream, Array(body[sent..<sent + count])))
                sent += count
                window -= count
                continue
            }
            guard let frame = raw() else { return sent }
            if frame.kind == .credit, frame.stream == stream { window += frame.count }
        }
        send(Frame(.end, stream))
        return sent
    }

    private func whole() -> Frame? {
        guard bytes.count >= Frame.headerSize, let kind = Frame.Kind(rawValue: bytes[0]) else { return nil }
        let numbers = bytes[1..<Frame.headerSize].map { Int($0) }
        let length = numbers[4...].reduce(0) { $0 << 8 | $1 }
        guard bytes.count >= Frame.headerSize + length else { return nil }
        let payload = Array(bytes[Frame.headerSize..<Frame.headerSize + length])
        bytes.removeFirst(Frame.headerSize + length)
        return Frame(kind, UInt32(numbers[..<4].reduce(0) { $0 << 8 | $1 }), payload)
    }

    /// Frames up to and with the end of a stream: its head, and its body. Those of others are handed to `other`.
    func message(on stream: UInt32, other: (Frame) -> Void = { _ in }) -> (head: String, body: String)? {
        var head = ""
        var body = ""
        while let frame = next() {
            guard frame.stream == stream else {
                other(frame)
                continue
            }
            switch frame.kind {
            case .head: head = frame.text
            case .data: body += frame.text
            case .end: return (head, body)
            case .reset, .credit, .leave, .limit, .ping, .pong: return nil
            }
        }
        return nil
    }
}
