internal import HTTPCodec

/// Values by name in a query, a urlencoded form or a multipart form. The edits of all three use it.
protocol NamedValues {
    associatedtype Fault: Error

    /// Replaces the first value of that name and removes the others. Adds the pair if there is none.
    mutating func set(_ pair: Pair) throws(Fault)
    mutating func add(_ pair: Pair) throws(Fault)
    /// - Returns: the number of values removed.
    mutating func remove(where matches: (String) -> Bool) throws(Fault) -> Int
}

extension NamedValues {
    mutating func write(_ pairs: [Pair], _ what: String, _ way: any PairWay.Type) throws(Fault) -> [String] {
        for pair in pairs { if way.adds { try add(pair) } else { try set(pair) } }
        return pairs.map { "\(way.pastVerb) \(what) \($0.name)" }
    }

    /// - Parameter names: names or globs.
    mutating func remove(_ names: [String], _ what: String) throws(Fault) -> [String] {
        var notes: [String] = []
        for name in names {
            let count = try remove { Glob.matches(name, $0) }
            notes.append(HeaderEdit.removed(count, "\(what) \(name)"))
        }
        return notes
    }
}

extension QueryText: NamedValues {
    mutating func set(_ pair: Pair) { set(pair.name, pair.value) }
    mutating func add(_ pair: Pair) { add(pair.name, pair.value) }

    mutating func remove(where matches: (String) -> Bool) -> Int {
        let before = pairs.count
        removeAll(where: matches)
        return before - pairs.count
    }
}

extension MultipartText: NamedValues {
    mutating func set(_ pair: Pair) throws(MultipartFault) { try set(pair.name, Array(pair.value.utf8)) }
    mutating func add(_ pair: Pair) throws(MultipartFault) { try add(pair.name, Array(pair.value.utf8)) }

    mutating func remove(where matches: (String) -> Bool) throws(MultipartFault) -> Int {
        try removeAll(where: matches)
    }
}
