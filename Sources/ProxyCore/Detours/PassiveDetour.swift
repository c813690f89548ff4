import HTTPCodec
import Interception

/// A detour that has nothing under way of its own: it looks on, and may have the request sent again.
protocol PassiveDetour: Detour {}

extension PassiveDetour {
    var isActive: Bool { false }
    var endsWithClient: Bool { false }
    var keepsResponse: Bool { false }
    var limit: Int? { nil }
    var keptBytes: Int { 0 }
    var cookieLines: [String] { [] }

    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }
    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        .deliver(response)
    }
    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }
    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }
    func answered(_ response: inout ResponseHead, _ context: DetourContext) {}
    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {}
    func delivers(_ status: Int) {}
    func abandon() {}
}
