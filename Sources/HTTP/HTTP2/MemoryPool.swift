import CNghttp2

/// The allocator of one nghttp2 session. nghttp2 repeats the same small allocations for each message, so freed pieces are kept up
/// to a bound. Large pieces are on their own pages, so that empty ones use no memory.
struct MemoryPool {
    /// Free lists by size: 64, 128, 256, 512 and 1,024 bytes.
    private struct State {
        var kept = 0
        var pages = PagedPieces()
        /// True once the dynamic table of the encoder was allocated.
        var hasTable = false
        private var first: InlineArray<5, UnsafeMutableRawPointer?> = [nil, nil, nil, nil, nil]

        /// The first free piece of a size.
        subscript(_ size: Int) -> UnsafeMutableRawPointer? {
            @inline(__always) get { first[size.trailingZeroBitCount &- 6] }
            @inline(__always) set { first[size.trailingZeroBitCount &- 6] = newValue }
        }
    }

    /// The limit of free bytes.
    private static let maxKept = 4 << 10
    private static let smallest = 64
    private static let largest = 1_024
    /// The size of the header that stores a piece's size. It keeps the piece aligned for any type.
    private static let header = 16

    private let state: UnsafeMutablePointer<State>

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    /// - Parameter pool: a pool without allocated pieces.
    static func destroy(_ pool: MemoryPool) {
        pool.clear()
        pool.state.deallocate()
    }

    /// Frees unused pieces and the memory of empty large pieces.
    /// - Parameter scratch: see `PagedPieces.empty`.
    func rest(scratch: UnsafeRawPointer?) {
        clear()
        state.pointee.pages.empty(scratch: scratch)
    }

    private func clear() {
        var size = Self.smallest
        while size <= Self.largest {
            while let piece = state.pointee[size] {
                state.pointee[size] = piece.load(as: UnsafeMutableRawPointer?.self)
                (piece - Self.header).deallocate()
            }
            size *= 2
        }
        state.pointee.kept = 0
    }

    /// The free bytes.
    var kept: Int { state.pointee.kept }

    /// Valid while the pool exists.
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
                let size = MemoryPool.size(piece, state)
                guard count > size else { return piece }
                guard let larger = MemoryPool.take(count, state) else { return nil }
                larger.copyMemory(from: piece, byteCount: size)
                MemoryPool.give(piece, state)
                return larger
            })
    }

    private static func size(_ piece: UnsafeMutableRawPointer, _ pool: UnsafeMutableRawPointer?) -> Int {
        let pages = pool?.assumingMemoryBound(to: State.self)
        return pages?.pointee.pages.size(of: piece) ?? (piece - header).load(as: Int.self)
    }

    /// The piece size for this many bytes.
    @inline(__always)
    private static func size(of count: Int) -> Int {
        count <= smallest ? smallest : 1 &<< (Int.bitWidth &- (count &- 1).leadingZeroBitCount)
    }

    private static func take(_ count: Int, _ pool: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let state = pool?.assumingMemoryBound(to: State.self), count <= 1 << 30 else { return nil }
        var size = count
        if count <= largest {
            size = Self.size(of: count)
            if let piece = state.pointee[size] {
                state.pointee[size] = piece.load(as: UnsafeMutableRawPointer?.self)
                state.pointee.kept -= size
                return piece
            }
            // nghttp2 allocates it first and never uses it (see NGHTTP2Session.make)
            if size == largest, !state.pointee.hasTable {
                state.pointee.hasTable = true
                if let piece = state.pointee.pages.take(count) { return piece }
            }
        } else if count >= PagedPieces.pageSize, let piece = state.pointee.pages.take(count) {
            return piece
        }
        let start = UnsafeMutableRawPointer.allocate(byteCount: header + size, alignment: header)
        start.storeBytes(of: size, as: Int.self)
        return start + header
    }

    private static func give(_ piece: UnsafeMutableRawPointer?, _ pool: UnsafeMutableRawPointer?) {
        guard let piece, let state = pool?.assumingMemoryBound(to: State.self) else { return }
        guard !state.pointee.pages.giveBack(piece) else { return }
        let size = (piece - header).load(as: Int.self)
        guard size <= largest, state.pointee.kept + size <= maxKept else { return (piece - header).deallocate() }
        piece.storeBytes(of: state.pointee[size], as: UnsafeMutableRawPointer?.self)
        state.pointee[size] = piece
        state.pointee.kept += size
    }
}
