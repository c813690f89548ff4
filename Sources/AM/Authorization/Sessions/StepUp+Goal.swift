internal import Interception

extension StepUp {
    /// The purpose of an authentication at AM.
    struct Goal: Sendable {
        /// The session to step up; nil to obtain a new one.
        let session: SessionSource?
        /// The tree and type, for interceptors and the first call.
        let payload: ActionPayload
        /// A phrase that ends a sentence.
        let summary: String
        /// True if AM may replace the session.
        let winsSession: Bool
        /// True if the result may be shared with other requests.
        let isShared: Bool
        /// The reason why AM cannot be asked, as one sentence; nil if it can.
        let refusal: String?

        /// The goal of an advice.
        init(_ advice: Advice, _ session: SessionSource) {
            self.session = session
            payload = ActionPayload(tree: advice.xml, type: "composite_advice")
            summary = advice.summary
            winsSession = advice.isUpgrade
            isShared = advice.isUpgrade && !advice.isTransaction
            refusal =
                advice.refusal
                ?? (SessionSource.isUsable(session.token)
                    ? nil : "the session holds characters that no cookie can carry")
        }

        /// A session for Usher.
        /// - Parameter tree: nil for the realm's default tree.
        init(login tree: String?) {
            session = nil
            payload = ActionPayload(tree: tree, type: "service")
            summary =
                tree.map { "a session by the tree \(LogText.shown($0))" } ?? "a session by the realm's default tree"
            winsSession = true
            isShared = false
            refusal = nil
        }

        /// The query of the first call; empty for the realm's default tree. The `authId` contains the index, so later calls omit
        /// it (docs/protocol.md#calls-to-am).
        var query: [NamedText] {
            guard let type = payload.type, let tree = payload.tree else { return [] }
            return [NamedText("authIndexType", type), NamedText("authIndexValue", tree)]
        }
    }
}
