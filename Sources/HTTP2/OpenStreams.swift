import HTTPCodec

/// The streams of a connection that have not ended. There are few, and their numbers stand side by side, so they are looked
/// through, and lent, but never copied.
struct OpenStreams: ~Copyable {
    private var ids: [Int32] = []
    private var places: [UInt32] = []
    private var states: [StreamState] = []

    /// How many of them nghttp2 has ended, and nobody has taken note of.
    private var closed = 0

    var count: Int { states.count - closed }
    var isEmpty: Bool { states.isEmpty }

    mutating func add(_ state: consuming StreamState) {
        ids.append(state.id)
        places.append(state.place.number)
        states.append(consume state)
    }

    func index(id: Int32) -> Int? { ids.lastIndex(of: id) }
    func index(_ place: StreamID) -> Int? { places.lastIndex(of: place.number) }

    subscript(_ index: Int) -> StreamState {
        _read { yield states[index] }
        _modify { yield &states[index] }
    }

    /// It has got its number.
    mutating func name(_ index: Int, _ id: Int32) {
        ids[index] = id
        states[index].id = id
    }

    /// It has ended: nothing more can be written on it, and what came of it is still to be told.
    mutating func close(_ index: Int) {
        guard !states[index].isClosed else { return }
        states[index].isClosed = true
        states[index].outgoing.drop()
        closed += 1
    }

    mutating func remove(_ index: Int) {
        if states[index].isClosed { closed -= 1 }
        ids.remove(at: index)
        places.remove(at: index)
        states.remove(at: index)
    }
}
