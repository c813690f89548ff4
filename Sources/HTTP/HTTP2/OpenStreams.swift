import HTTPCodec

/// The open streams of a connection. There are few, so look-ups scan contiguous ids. States are borrowed and never copied.
struct OpenStreams: ~Copyable {
    private var ids: [Int32] = []
    private var places: [UInt32] = []
    private var states: [StreamState] = []

    /// The count of streams that nghttp2 has closed and that are not removed yet.
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

    /// Sets the id of a stream.
    mutating func name(_ index: Int, _ id: Int32) {
        ids[index] = id
        states[index].id = id
    }

    /// Marks a stream as closed. Nothing more can be written; its end is still to be reported.
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
