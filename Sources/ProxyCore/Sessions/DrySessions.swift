import Authorization

/// A store of learned sessions that stays empty.
final class DryLearned: LearnedStore {
    func find(_ client: LearnedClient, at server: String) -> LearnedSessions.Found? { nil }
    func learn(_ news: LearnedSessions.News, of client: LearnedClient, at server: String, for time: Int) {}
    func forget(_ client: LearnedClient, at server: String) {}
    func ended(_ session: String) {}
    func replaced(_ session: String, by other: SessionSource) {}
}

extension SessionStores {
    static var dry: SessionStores {
        SessionStores(
            upgrades: DryCredentials<CredentialLedger<SharedUpgrade>>(),
            own: DryCredentials<CredentialLedger<KeptSession>>(), learned: DryLearned())
    }
}
