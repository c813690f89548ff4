import EventLoop
import Interception
import Names
import TLSEngine

/// The versions of this program and of the libraries that it uses.
public enum Version {
    public static let usher = "0.1.0"
    public static var libevent: String { Loop.libraryVersion }
    public static var cares: String { NameService.libraryVersion }
    public static var pcre2: String { PatternLibrary.version }
    public static var openSSL: String { Library.version }
}
