internal import Formats

/// Names that clients give to what they open.
enum ControlName {
    static let pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"

    static func accepts(_ text: String) -> Bool {
        guard let first = text.utf8.first, ASCII.isAlpha(first) || ASCII.isDigit(first), text.utf8.count <= 64 else {
            return false
        }
        return text.utf8.allSatisfy {
            ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
        }
    }
}
