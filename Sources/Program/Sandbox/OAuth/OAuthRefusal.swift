internal import Formats

/// An OAuth 2.0 error response.
struct OAuthRefusal: Error {
    let status: Int
    let error: String
    let words: String
    private let fields: [(name: String, value: String)]

    init(_ status: Int, _ error: String, _ words: String, fields: [(name: String, value: String)] = []) {
        (self.status, self.error, self.words, self.fields) = (status, error, words, fields)
    }

    /// `{"error":…,"error_description":…}` (RFC 6749 §5.2).
    var response: SandboxResponse {
        var response = SandboxResponse.json(
            status, ["error": .string(error), "error_description": .string(words)],
            note: "\(error): \(words)")
        response.fields += fields
        return response
    }
}
