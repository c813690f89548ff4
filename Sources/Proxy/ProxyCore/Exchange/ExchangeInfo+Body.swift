import Authorization
import HTTPCodec
import Interception

/// Decides how much of the request's body to keep, and finds the Action.
extension ExchangeInfo {
    /// The bytes of the body that the classifier and the interceptors need before the request goes out.
    mutating func wantedBody(_ seconds: Int) -> Int {
        received.body.classifierStep = engine.classifier.begin(received.head)
        switch received.body.classifierStep {
        case .none: break
        case .done(let found): classification = found
        case .needsBody: return Classifier.bodyPeek
        }
        return keepsBody(seconds) ? engine.settings.limits.keptBody : 0
    }

    /// Keeps more of the body when the Action depends on it and interceptors for that Action change the body.
    mutating func keepsMore(_ flows: (any FlowStore)?, _ seconds: Int) -> Bool {
        guard case .needsBody = received.body.classifierStep else { return false }
        finishClassifying(flows)
        let limit = engine.settings.limits.keptBody
        guard received.body.fits(limit), keepsBody(seconds) else { return false }
        received.body.keep(upTo: limit)
        return true
    }

    /// Finds the Action, as far as the body is here.
    mutating func classify(_ flows: (any FlowStore)?, _ now: Int) {
        finishClassifying(flows)
        guard let classification, let action = classification.action else { return }
        log.tell(
            .recognised(
                action, realm: engine.redaction.realm(classification.realm),
                tree: engine.redaction.tree(classification.payload), evidence: classification.evidence), now)
    }

    private mutating func finishClassifying(_ flows: (any FlowStore)?) {
        guard case .needsBody(let call) = received.body.classifierStep else { return }
        let found = engine.classifier.finish(
            received.head, call, body: received.body.bytes, complete: received.body.isKept, flows: flows)
        classification = found
        received.body.classifierStep = .done(found)
    }
}
