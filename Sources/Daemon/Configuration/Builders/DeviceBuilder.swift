internal import Authorization
internal import Declaration
internal import Interception

/// Builds the devices from `devices`.
struct DeviceBuilder {
    let findings: Findings
    let choice: ServerChoice
    let tls: TLSSettings

    func devices(_ items: [Decoded]) -> [Device] {
        var names: Set<String> = []
        return items.compactMap { item in
            guard let fields = item.fields, let device = device(fields, item.position) else { return nil }
            if !names.insert(device.name).inserted {
                findings.error(
                    item.position, "another device already has the name \(device.name); choose another name")
            }
            return device
        }
    }

    private func device(_ fields: Fields, _ position: Position) -> Device? {
        let users = fields.list("user").compactMap(\.text)
        guard let first = users.first, let server = choice.server(fields, "devices", position) else { return nil }
        var device = Device(name: fields.text("name") ?? first, users: users, server: server)
        KeyTable.device.set(fields, in: &device)
        judge(device, fields, position)
        return device
    }

    private func judge(_ device: Device, _ fields: Fields, _ position: Position) {
        if !device.oath, !fields.has("push") {
            findings.error(position, "this device has no effect; add push, or remove oath: false")
        }
        let isPushed = fields.hasFaulty("push") || device.push == .approve || device.push == .deny
        for key in ["delay", "number"] where !isPushed {
            guard let written = fields[key] else { continue }
            findings.warning(written.position, "\(key) has no effect without push: approve or deny")
        }
        if device.isSeen, !GlobReach(url: device.server.url).isOpened(by: tls.interception),
            let written = fields["seen"]
        {
            findings.warning(
                written.position,
                "requests to \(device.server.host) pass in tunnels that are not opened, so Usher sees no journey; "
                    + "add the host to tls.intercept"
            )
        }
        if fields.has("prompt"), !device.oath, let written = fields["prompt"] {
            findings.warning(written.position, "prompt has no effect with oath: false")
        }
    }
}
