internal import Declaration

/// Merges several files into one document: lists are joined, maps are merged, and a single value may occur in one file only.
struct DocumentMerge {
    let findings: Findings

    /// - Parameter roots: the files' roots, in order.
    func document(_ roots: [YAMLNode]) -> YAMLNode? {
        guard var document = roots.first else { return nil }
        for root in roots.dropFirst() {
            guard case .map = document.content, case .map = root.content else {
                // an error in the first file is reported when it is read
                if case .map = root.content { continue }
                findings.error(root.position, "the file takes keys with values, found \(root.kind)")
                continue
            }
            document = merged(document, root, .object(KeyTable.root), path: "")
        }
        return document
    }

    private func merged(_ first: YAMLNode, _ second: YAMLNode, _ shape: Shape?, path: String) -> YAMLNode {
        if first.isNull { return second }
        if second.isNull { return first }
        if let list = Self.lists(first, second, shape) {
            return YAMLNode(position: first.position, content: .list(list))
        }
        if case .map(let entries) = first.content, case .map(let others) = second.content {
            return YAMLNode(
                position: first.position, content: .map(merged(entries, others, shape, path: path)))
        }
        // every file may have the version, so that it can be checked alone
        if path == "version", case .scalar(let one, _) = first.content, case .scalar(let other, _) = second.content,
            one == other
        {
            return first
        }
        findings.error(
            second.position,
            "\(path) is already in \(findings.place(first.position, from: second.position)); set it only once")
        return first
    }

    private func merged(
        _ first: [YAMLNode.Entry], _ second: [YAMLNode.Entry], _ shape: Shape?, path: String
    ) -> [YAMLNode.Entry] {
        var entries = first
        for entry in second {
            guard let index = entries.firstIndex(where: { $0.key == entry.key }) else {
                entries.append(entry)
                continue
            }
            let inner = path.isEmpty ? entry.key : "\(path).\(entry.key)"
            let shape = shape?.object?.keys.first { $0.name == entry.key }?.shape
            entries[index].value = merged(entries[index].value, entry.value, shape, path: inner)
        }
        return entries
    }

    /// The items of both values if they are lists; where the key takes either, a single value is a list of one.
    private static func lists(_ first: YAMLNode, _ second: YAMLNode, _ shape: Shape?) -> [YAMLNode]? {
        let takesOne = if case .oneOrMany? = shape { true } else { false }
        func isList(_ node: YAMLNode) -> Bool { if case .list = node.content { true } else { false } }
        func items(_ node: YAMLNode) -> [YAMLNode]? {
            switch node.content {
            case .list(let items): items
            case .scalar: takesOne ? [node] : nil
            case .map: takesOne && (isList(first) || isList(second)) ? [node] : nil
            }
        }
        guard let left = items(first), let right = items(second) else { return nil }
        return left + right
    }
}

extension Shape {
    /// The object of a shape that is a single object.
    fileprivate var object: ObjectShape? {
        switch self {
        case .object(let object), .either(_, let object), .oneOrMany(.object(let object)): object
        default: nil
        }
    }
}
