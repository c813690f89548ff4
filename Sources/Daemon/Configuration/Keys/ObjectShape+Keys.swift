internal import Declaration

extension ObjectShape {
    /// Every object of the configuration, in the order of the keys that contain them.
    static let all = places.map(\.object)

    /// The same, each with the path of the first key that contains it: `am[]` for an entry of the list `am`.
    static let places: [(object: ObjectShape, path: String)] = {
        var found: [(object: ObjectShape, path: String)] = []
        func visit(_ object: ObjectShape, _ path: String) {
            guard !found.contains(where: { $0.object == object }) else { return }
            found.append((object, path))
            for key in object.keys {
                guard let inner = key.shape.inner else { continue }
                visit(inner.object, (path.isEmpty ? key.name : "\(path).\(key.name)") + inner.path)
            }
        }
        visit(KeyTable.root, "")
        return found
    }()
}

extension Shape {
    /// The object that a value of this shape may contain, and the path from the value to it.
    fileprivate var inner: (object: ObjectShape, path: String)? {
        switch self {
        case .object(let object), .either(_, let object): (object, "")
        case .list(let element): element.inner.map { ($0.object, "[]" + $0.path) }
        case .oneOrMany(let element): element.inner
        case .map(_, let element): element.inner.map { ($0.object, ".NAME" + $0.path) }
        default: nil
        }
    }
}
