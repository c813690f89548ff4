import Interception

extension RuleLogin {
    /// The logins of the interceptors that apply. They come after the step-up: an advice does not refuse a login.
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
