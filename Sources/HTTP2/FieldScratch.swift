/// Where fields of messages are put together before nghttp2 makes a copy: in use within one call alone, so that all connections
/// of one loop may share it.
public final class FieldScratch {
    @exclusivity(unchecked) var list = FieldList()

    public init() {}
}
