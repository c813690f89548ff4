/// A reference that keeps nothing alive and counts nothing, for what a loop follows at each event.
///
/// Sound between objects of one loop: an object leaves the reference before it is released, on the loop that reads the reference.
/// Other references count, or are `unowned`.
@propertyWrapper
public struct Unretained<Object: AnyObject> {
    @usableFromInline unowned(unsafe) var object: Object?

    @inlinable public init(wrappedValue: Object?) { object = wrappedValue }

    @inlinable public var wrappedValue: Object? {
        get { object }
        set { object = newValue }
    }
}
