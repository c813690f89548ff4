import CNghttp2

/// The large pieces that a session of nghttp2 has as long as it lasts, each on pages of its own. Between two messages nothing is in
/// them: their memory is given back then, and they stay where they are.
struct PagedPieces {
    private struct Piece {
        let start: UnsafeMutableRawPointer
        let count: Int

        /// Of its pages.
        var size: Int { PagedPieces.size(count) }

        var holdsZeros: Bool {
            UnsafeRawBufferPointer(start: start, count: size).withMemoryRebound(to: UInt.self) { words in
                words.allSatisfy { $0 == 0 }
            }
        }
    }

    static let pageSize = usher_page_size()
    /// Its table of streams, what frames are made in, and those that take their place as they grow; a table of fields.
    private var pieces: InlineArray<5, Piece?> = [nil, nil, nil, nil, nil]

    private static func size(_ count: Int) -> Int { (count + pageSize - 1) / pageSize * pageSize }

    /// - Returns: nil where there are enough of them.
    mutating func take(_ count: Int) -> UnsafeMutableRawPointer? {
        guard let place = pieces.indices.first(where: { pieces[$0] == nil }) else { return nil }
        guard let start = usher_pages_take(Self.size(count)) else { return nil }
        pieces[place] = Piece(start: start, count: count)
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
            // a smaller one is here because there is never anything in it
            guard let piece = pieces[index], piece.count >= Self.pageSize else { continue }
            let isScratch = scratch.map { $0 >= piece.start && $0 < piece.start + piece.size } ?? false
            if isScratch || piece.holdsZeros { usher_pages_empty(piece.start, piece.size) }
        }
    }
}
