import HTTPCodec

/// Names that a certificate can be made for.
enum HostName {
    /// Letters, digits, hyphens and underscores in labels of at most 63, 253 in all; the first label may be `*`. Names in
    /// other scripts are written as A-labels (RFC 5890 §2.3.2.1).
    static func isValid(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard !bytes.isEmpty, bytes.count <= 253 else { return false }
        let labels = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        return labels.enumerated().allSatisfy { index, label in
            if index == 0, label.elementsEqual([0x2A]), labels.count > 1 { return true }
            return (1...63).contains(label.count)
                && label.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x5F }
        }
    }
}
