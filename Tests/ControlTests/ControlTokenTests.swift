import Testing

@testable import Control

@Suite("The admin API's token")
struct ControlTokenTests {
    private let token = ControlToken(Array("s3cret".utf8))

    @Test func theWholeTokenIsTakenAlone() {
        #expect(token.isEqual("s3cret".utf8))
        for guess in ["", "s", "s3cre", "3cret", "s3crets", "s3crets3cret", "S3cret", "x3cret", "s3xret", "s3crex"] {
            #expect(!token.isEqual(guess.utf8), "\(guess)")
        }
    }

    /// None is set.
    @Test func noTokenIsEqualToNone() { #expect(!ControlToken([]).isEqual("".utf8)) }
}
