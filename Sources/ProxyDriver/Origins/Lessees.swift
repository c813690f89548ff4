internal import HTTPCodec
import ProxyCore

/// Whose each stream of an origin's connection is. There are few, and their numbers stand side by side, so they are looked through.
struct Lessees {
    struct Lessee {
        unowned(unsafe) let connection: Connection
        let exchange: ExchangeID
        var isRead = true
        /// How many bytes it has got that the origin has not been told of: it has enough to take.
        var owed = 0
    }

    private var numbers: [UInt32] = []
    private var lessees: [Lessee] = []

    var isEmpty: Bool { numbers.isEmpty }
    var count: Int { numbers.count }
    /// Those that there are by now.
    var streams: [StreamID] { numbers.map { StreamID($0) } }

    mutating func add(_ stream: StreamID, _ lessee: Lessee) {
        numbers.append(stream.number)
        lessees.append(lessee)
    }

    func index(of stream: StreamID) -> Int? { numbers.firstIndex(of: stream.number) }

    subscript(_ index: Int) -> Lessee {
        _read { yield lessees[index] }
        _modify { yield &lessees[index] }
    }

    mutating func remove(_ stream: StreamID) -> Lessee? {
        guard let index = index(of: stream) else { return nil }
        numbers.remove(at: index)
        return lessees.remove(at: index)
    }
}
