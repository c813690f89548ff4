/// The stored devices. They are parsed again only after a change, because pushes may arrive often.
public struct DeviceRoster: Sendable {
    private var documents: [String: [UInt8]] = [:]
    /// Newest first.
    private(set) var devices: [KeptDevice] = []
    /// Indexes in `devices` of the push devices.
    private var mechanisms: [String: Int] = [:]

    public init() {}

    /// - Parameter documents: the stored documents. Unchanged ones are not parsed again.
    mutating func read(_ documents: [String: [UInt8]]) {
        guard documents != self.documents else { return }
        self.documents = documents
        devices = KeptDevice.all(in: documents)
        mechanisms = [:]
        for (index, device) in devices.enumerated() {
            if let push = device.push { mechanisms[push.mechanism] = index }
        }
    }

    /// The device with this mechanism id of AM's pushes.
    public func device(mechanism: String) -> KeptDevice? { mechanisms[mechanism].map { devices[$0] } }
}
