import HTTPCodec
import Interception

/// Takes an exchange from a complete head to an admitted request.
extension Exchange {
    /// Begins with the request in `request`.
    /// - Parameter framing: how the body is framed.
    /// - Throws: an `HTTPFault` when the head breaks a rule; the caller then calls `refuse`.
    mutating func begin(
        _ framing: BodyFraming, _ context: inout ClientContext, _ out: inout Outbox
    ) throws(HTTPFault) {
        body.reset(framing)
        let refusal = try Reception.refusal(
            of: &received.head, framing, in: context.tunnel, engine, url: &log.record.url)
        if let refusal { return answer(refusal, isLast: true, &out) }
        // inside a tunnel the request is for the origin; the client authenticated when it opened the tunnel
        if engine.settings.users != nil, context.tunnel == nil {
            authenticate(&context, &out)
        } else {
            try admitted(&context, &out)
        }
    }

    /// Continues with a well-formed request whose client is authenticated.
    mutating func admitted(_ context: inout ClientContext, _ out: inout Outbox) throws(HTTPFault) {
        switch try Reception(&received.head, engine, flow: log.record.flow, date: out.date) {
        case .proceeds:
            if let share = engine.settings.disclosure.traceShare { log.beginTrace(of: &received.head, share) }
            plan(&context, &out)
        case .answered(let local): answer(local, &out)
        case .refused(let error, let isLast): answer(error, isLast: isLast, &out)
        case .tunnel:
            log.tell(.sent, out.now)
            stage.enter(.tunnelling, until: .max)
            out.replies.append(.connect)
        case .ownTunnel(let origin):
            context.tunnel = origin
            log.tell(.delivered(status: 200), out.now)
            out.replies.append(.openOwnPages)
            complete(out.now)
        case .push:
            if let error = PushDelivery.refusal(of: body.framing) { return answer(error, &out) }
            received.body.collect(upTo: PushDelivery.largest)
            collect(&out)
        }
    }

    /// Rejects an invalid request and closes the connection, because the start of the next request is unknown.
    mutating func refuse(_ fault: HTTPFault, _ out: inout Outbox) {
        answer(.broken(fault), isLast: true, &out)
    }

    /// Handles the body of a push when it is complete or has reached the limit.
    mutating func takePush(_ context: ClientContext, _ out: inout Outbox) {
        do throws(ProxyError) {
            let delivery = try PushDelivery(body, context.stores, at: out.time)
            log.tell(.conversation("a push for the device with the id \(delivery.device) was delivered"), out.now)
            answer(OwnResponse.page(delivery.page, flow: log.record.flow, date: out.date), &out)
        } catch {
            answer(error, &out)
        }
    }
}
