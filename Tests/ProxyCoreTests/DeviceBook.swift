import Authorization

/// What devices keep, on disk and in memory, of one test.
final class DeviceBook: StateStore, PushStore {
    private var spaces: [StateSpace: StateDocuments] = [:]
    private var memory = DeviceMemory()

    func value(of key: StateKey) -> [UInt8]? { spaces[key.space]?.values[key.name] }
    func documents(in space: StateSpace) -> [String: [UInt8]] { spaces[space]?.values ?? [:] }

    func change(_ key: StateKey, _ body: (inout [UInt8]?) -> Void) -> Bool {
        var value = value(of: key)
        body(&value)
        return spaces[key.space, default: StateDocuments()].put(key.name, value)
    }

    func change<Result>(_ body: (inout DeviceMemory) -> Result) -> Result { body(&memory) }
}
