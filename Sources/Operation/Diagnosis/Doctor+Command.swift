import Configuration
public import Interception
import ProxyCore

/// Findings about a command that ran with a proxy of its own.
extension Doctor {
    /// - Parameters:
    ///   - status: the command's exit status.
    ///   - withheld: variables that the command did not receive.
    public func judge(
        _ records: [ExchangeRecord], command: [String], status: Int32, withheld: [String]
    ) -> [Finding] {
        var findings = ownCertificates().findings
        if status != 0 { findings.append(Finding(.note, "the command ended with status \(status)")) }
        if !withheld.isEmpty {
            findings.append(
                Finding(
                    .note,
                    "the command did not get the variables that the configuration reads: "
                        + "\(withheld.joined(separator: ", "))",
                    remedy: "use --pass-env NAME if the command needs one of them"))
        }
        findings +=
            CommandDiagnosis(records, command: command, namesServers: !snapshot.settings.servers.isEmpty).findings
        return findings
    }
}
