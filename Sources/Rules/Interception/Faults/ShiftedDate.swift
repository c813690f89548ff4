internal import Formats
internal import HTTPCodec

/// Moves the Date of a response.
struct ShiftedDate: ResponseEdit, InnerEdit {
    static let sparesCalls = true

    let seconds: Int

    func apply(to head: inout ResponseHead) -> EditEffect {
        guard let date = head.fields["Date"], let time = CalendarTime.seconds(ofHTTP: date, now: 0) else {
            return .changed(["found no Date to move"])
        }
        head.fields.set("Date", CalendarTime(time + seconds).http)
        return .changed(["moved Date by \(seconds) s"])
    }
}
