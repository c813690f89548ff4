/// The connections of one loop, each at its own index.
final class ConnectionTable {
    private var places: [Connection?] = []
    private var free: [Int] = []
    private(set) var count = 0

    func add(_ connection: Connection) {
        if let index = free.popLast() {
            connection.index = index
            places[index] = connection
        } else {
            connection.index = places.count
            places.append(connection)
        }
        count += 1
    }

    func holds(_ connection: Connection) -> Bool { places[connection.index] === connection }

    func remove(_ connection: Connection) {
        places[connection.index] = nil
        free.append(connection.index)
        count -= 1
    }

    /// Visits the connections that exist at the start.
    func forEach(_ body: (Connection) -> Void) {
        for case let connection? in places { body(connection) }
    }

    /// Visits each connection that exists when its turn comes.
    func takeTurns(_ body: (Connection) -> Void) {
        for index in places.indices {
            if let connection = places[index] { body(connection) }
        }
    }

    /// Releases all connections after the loop has ended.
    func letGo() { places = [] }
}
