import HTTPCodec

/// The streams of a connection that have not ended. There are few, and their numbers stand side by side, so they are looked
/// through.
struct OpenStreams {
    private var ids: [Int32] = []
    private var places: [UInt32] = []
    private var states: [StreamState] = []

    var count: Int { states.count }

    mutating func add(_ state: StreamState) {
        ids.append(state.id)
        places.append(state.place.number)
        states.append(state)
    }

    func index(id: Int32) -> Int? { ids.lastIndex(of: id) }
    func index(_ place: StreamID) -> Int? { places.lastIndex(of: place.number) }

    subscript(_ index: Int) -> StreamState {
        get { states[index] }
        _modify { yield &states[index] }
    }

    /// It has got its number.
    mutating func name(_ index: Int, _ id: Int32) {
        ids[index] = id
        states[index].id = id
    }

    mutating func remove(_ index: Int) -> StreamState {
        ids.remove(at: index)
        places.remove(at: index)
        return states.remove(at: index)
    }
}
