import ArgumentParser
import Configuration
import Expectations
import Operation

/// Reads the expectations that a command line names.
struct ExpectationSource {
    private let reader: ExpectationReader

    /// - Parameter snapshot: the configuration whose Actions and expectations may be named; nil if any Action may be meant.
    init(_ snapshot: Snapshot?) { reader = ExpectationReader(snapshot) }

    /// - Parameter names: packs of rules, or files of expectations.
    /// - Throws: exit code 2, with every fault on standard error.
    func expectations(of names: [String]) throws -> [Expectation] {
        try names.flatMap { name -> [Expectation] in
            if let pack = RulePack.all.first(where: { $0.name == name }) { return pack.rules }
            // a file's name has an ending or a folder
            guard name.contains(where: { $0 == "." || $0 == "/" }) else { return try packs([name]) }
            let bytes: [UInt8]
            do throws(Input.Fault) { bytes = try Input.read(name) } catch {
                throw CommandExit.usage(error.description)
            }
            return try done(reader.expectations(in: String(decoding: bytes, as: UTF8.self), file: name))
        }
    }

    func packs(_ names: [String]) throws -> [Expectation] { try lines(names.map { "use=\($0)" }) }

    /// - Parameter lines: such as `action=LOGOUT count=1`.
    func lines(_ lines: [String]) throws -> [Expectation] { try done(reader.expectations(in: lines)) }

    private func done(_ read: Result<[Expectation], ConfigurationFaults>) throws -> [Expectation] {
        switch read {
        case .success(let expectations): return expectations
        case .failure(let faults):
            for fault in faults.diagnostics { Console.plain(fault.description) }
            throw ExitCode(2)
        }
    }
}
