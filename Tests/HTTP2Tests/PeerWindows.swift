/// What a peer that is made by hand may send by now, as it was told.
struct PeerWindows {
    private var initial = 65_535
    private var granted: [UInt32: Int] = [0: 65_535]

    mutating func note(_ frames: [Frame]) {
        for frame in frames {
            if frame.kind == 8 { granted[frame.stream, default: 0] += Int(frame.number(at: 0) ?? 0) }
            guard frame.kind == 4, frame.flags == 0 else { continue }
            for place in stride(from: 0, to: frame.payload.count, by: 6) where frame.payload[place + 1] == 4 {
                initial = Int(frame.number(at: place + 2) ?? 0)
            }
        }
    }

    /// On a stream, whatever the connection has.
    func room(_ stream: UInt32) -> Int { (stream == 0 ? 0 : initial) + granted[stream, default: 0] }

    /// So much was sent of that, in whatever frame.
    mutating func spend(_ stream: UInt32, _ count: Int) {
        for place in [0, stream] { granted[place, default: 0] -= count }
    }

    /// So much of a body, in frames, as far as there is room.
    mutating func send(_ stream: UInt32, _ count: Int = .max) -> [UInt8] {
        var bytes: [UInt8] = []
        var left = min(count, room(stream), granted[0, default: 0])
        spend(stream, left)
        while left > 0 {
            let size = min(left, 16 << 10)
            bytes += Frame.data(stream, [UInt8](repeating: 0x61, count: size))
            left -= size
        }
        return bytes
    }
}
