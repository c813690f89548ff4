import Configuration
public import Interception
import ProxyCore

/// What a command that ran behind a proxy of its own showed.
extension Doctor {
    /// - Parameter status: the command's.
    public func judge(_ records: [ExchangeRecord], command: [String], status: Int32) -> [Finding] {
        var findings = ownCertificates().findings
        if status != 0 { findings.append(Finding(.note, "the command ended with status \(status)")) }
        findings +=
            CommandJudge(records, command: command, namesServers: !snapshot.settings.servers.isEmpty).findings
        return findings
    }
}
