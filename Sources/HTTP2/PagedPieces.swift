import CNghttp2

/// The large pieces that a session of nghttp2 has as long as it lasts, each on pages of its own. Between two messages nothing is in
/// them: their memory is given back then, and they stay where they are.
struct PagedPieces {
    private struct Piece {
        let start: UnsafeMutableRawPointer
        let size: Int

        var holdsZeros: Bool {
            UnsafeRawBufferPointer(start: start, count: size).withMemoryRebound(to: UInt.self) { words in
                words.allSatisfy { $0 == 0 }
            }
        }
    }

    private static let pageSize = usher_page_size()
    /// Its table of streams, what frames are made in, and those that take their place as they grow.
    private var pieces: InlineArray<4, Piece?> = [nil, nil, nil, nil]

    /// - Returns: nil where the piece is too small for this, or there are enough of them.
    mutating func take(_ count: Int) -> UnsafeMutableRawPointer? {
        guard count >= Self.pageSize, let place = pieces.indices.first(where: { pieces[$0] == nil }) else { return nil }
        let size = (count + Self.pageSize - 1) / Self.pageSize * Self.pageSize
        guard let start = usher_pages_take(size) else { return nil }
        pieces[place] = Piece(start: start, size: size)
        return start
    }

    /// - Returns: false where the piece is none of these.
    mutating func giveBack(_ piece: UnsafeMutableRawPointer) -> Bool {
        guard let place = place(of: piece), let one = pieces[place] else { return false }
        usher_pages_give_back(one.start, one.size)
        pieces[place] = nil
        return true
    }

    /// Nil where the piece is none of these.
    func size(of piece: UnsafeMutableRawPointer) -> Int? {
        place(of: piece).flatMap { pieces[$0]?.size }
    }

    private func place(of piece: UnsafeMutableRawPointer) -> Int? {
        // most are none of these; no page is smaller
        guard UInt(bitPattern: piece) & 0xFFF == 0 else { return nil }
        return pieces.indices.first { pieces[$0]?.start == piece }
    }

    /// Gives back the memory of those that hold zeros alone, which they do afterwards, too.
    /// - Parameter scratch: a place in one that holds nothing of use, whatever stands there.
    func empty(scratch: UnsafeRawPointer?) {
        for index in pieces.indices {
            guard let piece = pieces[index] else { continue }
            let isScratch = scratch.map { $0 >= piece.start && $0 < piece.start + piece.size } ?? false
            if isScratch || piece.holdsZeros { usher_pages_empty(piece.start, piece.size) }
        }
    }
}
