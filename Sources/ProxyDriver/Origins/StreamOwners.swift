internal import HTTPCodec
import ProxyCore

/// Whose each stream of an origin's connection is. There are few, and their numbers stand side by side, so they are looked through.
struct StreamOwners {
    struct Owner {
        unowned let connection: Connection
        let exchange: ExchangeID
        var isRead = true
        /// How many bytes it has got that the origin has not been told of: it has enough to take.
        var owed = 0
    }

    private var numbers: [UInt32] = []
    private var owners: [Owner] = []

    var isEmpty: Bool { numbers.isEmpty }
    var count: Int { numbers.count }
    /// Those that there are by now.
    var streams: [StreamID] { numbers.map { StreamID($0) } }

    mutating func add(_ stream: StreamID, _ owner: Owner) {
        numbers.append(stream.number)
        owners.append(owner)
    }

    func index(of stream: StreamID) -> Int? { numbers.firstIndex(of: stream.number) }

    subscript(_ index: Int) -> Owner {
        _read { yield owners[index] }
        _modify { yield &owners[index] }
    }

    mutating func remove(_ stream: StreamID) -> Owner? {
        guard let index = index(of: stream) else { return nil }
        numbers.remove(at: index)
        return owners.remove(at: index)
    }
}
