/// An unretained reference without reference counting, for references that a loop follows at each event.
///
/// It is safe between objects of one loop: an object clears the reference before it is released, on that loop. All other
/// references count, or are `unowned`.
@propertyWrapper
public struct Unretained<Object: AnyObject> {
    @usableFromInline unowned(unsafe) var object: Object?

    @inlinable public init(wrappedValue: Object?) { object = wrappedValue }

    @inlinable public var wrappedValue: Object? {
        get { object }
        set { object = newValue }
    }
}
