import CNghttp2

/// Memory for one session of nghttp2, which takes and gives back the same small pieces for every message: what it gives back
/// is kept for the next one, up to a bound.
struct MemoryPool {
    /// What is kept, and by how much more each size is than the one before: 64, 128, 256, 512, 1,024 bytes.
    private struct State {
        var kept = 0
        var first: UnsafeMutableRawPointer?
        var second: UnsafeMutableRawPointer?
        var third: UnsafeMutableRawPointer?
        var fourth: UnsafeMutableRawPointer?
        var fifth: UnsafeMutableRawPointer?

        subscript(_ size: Int) -> UnsafeMutableRawPointer? {
            get {
                switch size {
                case 64: first
                case 128: second
                case 256: third
                case 512: fourth
                default: fifth
                }
            }
            set {
                switch size {
                case 64: first = newValue
                case 128: second = newValue
                case 256: third = newValue
                case 512: fourth = newValue
                default: fifth = newValue
                }
            }
        }
    }

    /// Bytes that may lie unused.
    private static let maxKept = 4 << 10
    private static let largest = 1_024
    /// Before each piece stands its size; so much that what is behind is aligned for anything.
    private static let header = 16

    private let state: UnsafeMutablePointer<State>

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    /// - Parameter pool: which nothing was taken from that has not been given back.
    static func destroy(_ pool: MemoryPool) {
        for size in [64, 128, 256, 512, largest] {
            while let piece = pool.state.pointee[size] {
                pool.state.pointee[size] = piece.load(as: UnsafeMutableRawPointer?.self)
                (piece - header).deallocate()
            }
        }
        pool.state.deallocate()
    }

    /// Bytes that lie unused.
    var kept: Int { state.pointee.kept }

    /// For the time that the pool is there.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: UnsafeMutableRawPointer(state),
            malloc: { count, state in MemoryPool.take(count, state) },
            free: { piece, state in MemoryPool.give(piece, state) },
            calloc: { number, size, state in
                let (count, isTooMuch) = number.multipliedReportingOverflow(by: size)
                guard !isTooMuch, let piece = MemoryPool.take(count, state) else { return nil }
                piece.initializeMemory(as: UInt8.self, repeating: 0, count: count)
                return piece
            },
            realloc: { piece, count, state in
                guard let piece else { return MemoryPool.take(count, state) }
                let size = MemoryPool.size(piece)
                guard count > size else { return piece }
                guard let larger = MemoryPool.take(count, state) else { return nil }
                larger.copyMemory(from: piece, byteCount: size)
                MemoryPool.give(piece, state)
                return larger
            })
    }

    private static func size(_ piece: UnsafeMutableRawPointer) -> Int { (piece - header).load(as: Int.self) }

    private static func take(_ count: Int, _ pool: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let state = pool?.assumingMemoryBound(to: State.self), count <= 1 << 30 else { return nil }
        var size = count
        if count <= largest {
            size = 64
            while size < count { size *= 2 }
            if let piece = state.pointee[size] {
                state.pointee[size] = piece.load(as: UnsafeMutableRawPointer?.self)
                state.pointee.kept -= size
                return piece
            }
        }
        let start = UnsafeMutableRawPointer.allocate(byteCount: header + size, alignment: header)
        start.storeBytes(of: size, as: Int.self)
        return start + header
    }

    private static func give(_ piece: UnsafeMutableRawPointer?, _ pool: UnsafeMutableRawPointer?) {
        guard let piece, let state = pool?.assumingMemoryBound(to: State.self) else { return }
        let size = size(piece)
        guard size <= largest, state.pointee.kept + size <= maxKept else { return (piece - header).deallocate() }
        piece.storeBytes(of: state.pointee[size], as: UnsafeMutableRawPointer?.self)
        state.pointee[size] = piece
        state.pointee.kept += size
    }
}
