import Interception

extension RuleLogin {
    /// Those of the interceptors that apply, behind the step-up: what is an advice is no refusal of a login.
    static let registration = FilterRegistration(
        .classified, where: { $0.rules.contains { $0.login != nil } }
    ) { setup in
        for found in setup.engine.plan.logins(for: setup.request, body: setup.body, &setup.edits) {
            switch found.login {
            case .cookie(let login): setup.add(CookieLoginFilter(login, hosts: found.hosts))
            case .basic(let login):
                setup.add(BasicLoginFilter(login, interceptor: found.interceptor, hosts: found.hosts))
            }
        }
    }
}
