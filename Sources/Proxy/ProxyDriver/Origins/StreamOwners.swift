internal import HTTPCodec
import ProxyCore

/// The owners of an origin connection's streams. There are few, so look-ups scan contiguous numbers.
struct StreamOwners {
    struct Owner {
        unowned let connection: Connection
        let exchange: ExchangeID
        var isRead = true
        /// The received bytes that are not granted to the origin again, because the owner has enough to process.
        var owed = 0
    }

    private var numbers: [UInt32] = []
    private var owners: [Owner] = []

    var isEmpty: Bool { numbers.isEmpty }
    var count: Int { numbers.count }
    /// The current streams.
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
