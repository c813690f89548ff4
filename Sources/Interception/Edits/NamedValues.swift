internal import HTTPCodec

/// Values by name, as they stand in a query, in a form or in a form of parts: what the edits of them have in common.
protocol NamedValues {
    associatedtype Fault: Error

    /// Puts the value where the first of that name stands and drops the others; adds it where none is.
    mutating func set(_ pair: Pair) throws(Fault)
    mutating func add(_ pair: Pair) throws(Fault)
    /// - Returns: how many there were.
    mutating func remove(where matches: (String) -> Bool) throws(Fault) -> Int
}

extension NamedValues {
    mutating func set(_ pairs: [Pair], _ what: String) throws(Fault) -> [String] {
        for pair in pairs { try set(pair) }
        return pairs.map { "set \(what) \($0.name)" }
    }

    mutating func add(_ pairs: [Pair], _ what: String) throws(Fault) -> [String] {
        for pair in pairs { try add(pair) }
        return pairs.map { "added \(what) \($0.name)" }
    }

    /// - Parameter names: or globs.
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
