import java.net.URI;

/** java Fetch.java URL: what is there, by Java's oldest client, which is told of proxy and trust by properties alone. */
public class Fetch {
    public static void main(String[] arguments) throws Exception {
        try (var body = URI.create(arguments[0]).toURL().openStream()) {
            System.out.println(new String(body.readAllBytes()));
        }
    }
}
