import Journal

/// Flows as they are kept, made for tests.
enum FlowSamples {
    struct Sample {
        var id = 1
        var parent = 0
        var sequence = 1
        var began = 1_700_000_000_000
        var duration = 12
        var status = 200
        var method = "GET"
        var host = "am.test"
        var port = 443
        var scheme = 2
        var target = "/am/json/authenticate?realm=%2Falpha&x=a+b"
        var action = ""
        var realm = ""
        var tree = ""
        var type = ""
        var client = "127.0.0.1"
        var error = ""
        var request = "Host: am.test\r\nX-Requested-Platform: android\r\nCookie: a=1; session=session#3\r\n"
        var requestBody: [UInt8] = []
        var sentMethod = ""
        var sent = ""
        var response = "Content-Type: Application/JSON; charset=UTF-8\r\nX-Odd:  spaced \r\n"
        var responseBody: [UInt8] = []
        var answerStatus = 0
        var answer = ""
        var answerBody: [UInt8] = []
        var flags: FlowFlags = []
        var marks: [FlowNumber: Int] = [:]
        var events = ""
        var requestBytes: Int?
    }

    static func flow(_ change: (inout Sample) -> Void = { _ in }) -> PackedFlow {
        var sample = Sample()
        change(&sample)
        var packer = FlowPacker()
        let numbers: [FlowNumber: Int] = [
            .id: sample.id, .parent: sample.parent, .sequence: sample.sequence, .began: sample.began,
            .duration: sample.duration, .status: sample.status, .answerStatus: sample.answerStatus,
            .port: sample.port, .scheme: sample.scheme,
            .requestBytes: sample.requestBytes ?? sample.requestBody.count,
            .responseBytes: sample.responseBody.count, .attempts: 1, .flags: sample.flags.rawValue,
        ]
        for (number, value) in numbers { packer.set(number, value) }
        for (number, value) in sample.marks { packer.set(number, value + 1) }
        packer.set(.client, sample.client)
        packer.set(.action, sample.action)
        packer.set(.realm, sample.realm)
        packer.set(.tree, sample.tree)
        packer.set(.type, sample.type)
        packer.set(.proxyError, sample.error)
        packer.set(.method, sample.method)
        packer.set(.authority, sample.host)
        packer.set(.target, sample.target)
        packer.set(.request, sample.request)
        packer.set(.requestBody, sample.requestBody)
        packer.set(.sentMethod, sample.sentMethod)
        packer.set(.sent, sample.sent)
        packer.set(.answer, sample.answer)
        packer.set(.answerBody, sample.answerBody)
        packer.set(.response, sample.response)
        packer.set(.responseBody, sample.responseBody)
        packer.set(.events, sample.events)
        // another in front of it, so that places are not its own
        let before = FlowPacker().finish()
        return PackedFlow(before + packer.finish(), at: before.count) ?? unreadable
    }

    private static let unreadable: PackedFlow = {
        guard let flow = PackedFlow(FlowPacker().finish()) else { fatalError("an empty flow is one") }
        return flow
    }()
}
