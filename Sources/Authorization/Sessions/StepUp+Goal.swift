internal import Formats
internal import Interception

extension StepUp {
    /// What an authentication at AM is for.
    struct Goal: Sendable {
        /// The session that it is about; nil where one is to be won.
        let session: SessionSource?
        /// Tree and type: what interceptors go by, and what the first call names.
        let payload: ActionPayload
        /// In words, as the end of a sentence.
        let summary: String
        /// AM may give another session than the one that it is about.
        let winsSession: Bool
        /// Others who need it may have it, too.
        let isShared: Bool
        /// Why AM cannot be asked for it, one sentence; nil where it can.
        let refusal: String?

        /// What an advice asks for.
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

        /// A session of Usher's own.
        /// - Parameter tree: nil for the realm's default.
        init(login tree: String?) {
            session = nil
            payload = ActionPayload(tree: tree, type: "service")
            summary =
                tree.map { "a session by the tree \(LogText.shown($0))" } ?? "a session by the realm's default tree"
            winsSession = true
            isShared = false
            refusal = nil
        }

        /// What stands in the first call's query; nothing for the realm's default tree. The claims of the `authId` hold the
        /// index, so that only the first call names it (docs/protocol.md#calls-to-am).
        var query: [NamedText] {
            guard let type = payload.type, let tree = payload.tree else { return [] }
            return [NamedText("authIndexType", type), NamedText("authIndexValue", tree)]
        }
    }
}
