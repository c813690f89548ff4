/// The devices that are kept, read anew only where one came or went: who delivers pushes may do so often.
public struct DeviceRoster: Sendable {
    private var documents: [String: [UInt8]] = [:]
    /// The newest first.
    private(set) var devices: [KeptDevice] = []
    /// Places among them of those that take pushes.
    private var mechanisms: [String: Int] = [:]

    public init() {}

    /// - Parameter documents: what is kept now. As long as it is the same, that is seen without a look into it.
    mutating func read(_ documents: [String: [UInt8]]) {
        guard documents != self.documents else { return }
        self.documents = documents
        devices = KeptDevice.all(in: documents)
        mechanisms = [:]
        for (index, device) in devices.enumerated() {
            if let push = device.push { mechanisms[push.mechanism] = index }
        }
    }

    /// That which AM's pushes name so.
    public func device(mechanism: String) -> KeptDevice? { mechanisms[mechanism].map { devices[$0] } }
}
