import Formats
import Operation

/// The variables that an overlay reads with `${env.NAME}`. The daemon does not read its own for it.
enum OverlayVariables {
    /// The values of those that this command's environment has.
    static func json(of overlay: String) -> JSONValue {
        var variables: JSONValue = .object([])
        for piece in overlay.split(separator: "${env.", omittingEmptySubsequences: false).dropFirst() {
            guard let end = piece.firstIndex(of: "}"), let value = ProcessEnvironment.all[String(piece[..<end])] else {
                continue
            }
            variables[String(piece[..<end])] = .string(value)
        }
        return variables
    }
}
