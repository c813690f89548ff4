/// The connections of one loop, each in a place of its own.
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

    /// Those that are there when it begins.
    func forEach(_ body: (Connection) -> Void) {
        for case let connection? in places { body(connection) }
    }

    /// Those that are there when their turn comes.
    func takeTurns(_ body: (Connection) -> Void) {
        for index in places.indices {
            if let connection = places[index] { body(connection) }
        }
    }

    /// Of all of them, once the loop is over.
    func letGo() { places = [] }
}
