import CNghttp2

/// The long-lived large allocations of a session, each on its own pages. They are empty between messages, so their memory can be
/// released while the addresses stay valid.
struct PagedPieces {
    private struct Piece {
        let start: UnsafeMutableRawPointer
        let count: Int

        /// The size of its pages.
        var size: Int { PagedPieces.size(count) }

        var holdsZeros: Bool {
            UnsafeRawBufferPointer(start: start, count: size).withMemoryRebound(to: UInt.self) { words in
                words.allSatisfy { $0 == 0 }
            }
        }
    }

    static let pageSize = usher_page_size()
    /// The table of streams, the frame buffers, their successors when they grow, and a field table.
    private var pieces: InlineArray<5, Piece?> = [nil, nil, nil, nil, nil]

    private static func size(_ count: Int) -> Int { (count + pageSize - 1) / pageSize * pageSize }

    /// - Returns: nil if all slots are in use.
    mutating func take(_ count: Int) -> UnsafeMutableRawPointer? {
        guard let place = pieces.indices.first(where: { pieces[$0] == nil }) else { return nil }
        guard let start = usher_pages_take(Self.size(count)) else { return nil }
        pieces[place] = Piece(start: start, count: count)
        return start
    }

    /// - Returns: false if the piece is not from here.
    mutating func giveBack(_ piece: UnsafeMutableRawPointer) -> Bool {
        guard let place = place(of: piece), let one = pieces[place] else { return false }
        usher_pages_give_back(one.start, one.size)
        pieces[place] = nil
        return true
    }

    /// Nil if the piece is not from here.
    func size(of piece: UnsafeMutableRawPointer) -> Int? {
        place(of: piece).flatMap { pieces[$0]?.size }
    }

    private func place(of piece: UnsafeMutableRawPointer) -> Int? {
        // page-aligned addresses only, which excludes most pieces
        guard UInt(bitPattern: piece) & 0xFFF == 0 else { return nil }
        return pieces.indices.first { pieces[$0]?.start == piece }
    }

    /// Releases the memory of pieces that contain only zeros; they still read as zeros afterwards.
    /// - Parameter scratch: an address in a piece whose content is not needed.
    func empty(scratch: UnsafeRawPointer?) {
        for index in pieces.indices {
            // a piece smaller than a page is never used, see `MemoryPool`
            guard let piece = pieces[index], piece.count >= Self.pageSize else { continue }
            let isScratch = scratch.map { $0 >= piece.start && $0 < piece.start + piece.size } ?? false
            if isScratch || piece.holdsZeros { usher_pages_empty(piece.start, piece.size) }
        }
    }
}
