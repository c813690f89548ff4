import Control
import Formats

extension ControlRouter {
    /// What is answered at once.
    func answer(_ request: ControlRequest) -> ControlAnswer {
        guard case .now(let answer) = reply(request) else { return ControlAnswer(.string("not at once"), status: 599) }
        return answer
    }
}

extension ControlRoute {
    /// One that says little of itself.
    init(
        plain method: String, _ path: String, parameters: [RouteParameter] = [],
        _ handler: @escaping (ControlRequest) -> JSONValue
    ) {
        self.init(method, path, "\(method) \(path)", "", parameters: parameters, answers: [RouteAnswer("", .any)]) {
            request throws(ControlProblem) in .json(handler(request))
        }
    }
}
