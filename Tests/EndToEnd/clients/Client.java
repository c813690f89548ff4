import java.io.ByteArrayInputStream;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;

/** java Client.java PROXY-PORT ORIGIN [RESOURCE COOKIE]: the exchanges of test_real_clients.py with Java's own client; then all bytes
    there are, posted to RESOURCE, and what it answers. */
public class Client {
    private static void check(boolean good, String what) {
        if (!good) throw new IllegalStateException(what);
    }

    public static void main(String[] arguments) throws Exception {
        var proxy = ProxySelector.of(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
        var origin = arguments[1];
        // as it comes: it offers h2c on every request
        var client = HttpClient.newBuilder().proxy(proxy).build();
        for (int turn = 0; turn < 20; turn++) {
            var answer = client.send(
                HttpRequest.newBuilder(URI.create(origin + "/get")).build(), BodyHandlers.ofString());
            check(answer.statusCode() == 200 && answer.body().equals("hello"), "get");
        }
        byte[] body = new byte[100_000];
        Arrays.fill(body, (byte) 'j');
        for (var publisher : new HttpRequest.BodyPublisher[] {
            BodyPublishers.ofByteArray(body), BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))
        }) {
            HttpResponse<byte[]> echo = client.send(
                HttpRequest.newBuilder(URI.create(origin + "/echo")).POST(publisher).build(), BodyHandlers.ofByteArray());
            check(echo.statusCode() == 200 && Arrays.equals(echo.body(), body), "echo");
        }
        var pieces = client.send(
            HttpRequest.newBuilder(URI.create(origin + "/chunked")).build(), BodyHandlers.ofByteArray());
        check(pieces.body().length == 200_000, "chunked");
        System.out.println("ok");
        if (arguments.length > 2) {
            byte[] all = new byte[256];
            for (int value = 0; value < 256; value++) all[value] = (byte) value;
            var answer = client.send(
                HttpRequest.newBuilder(URI.create(arguments[2])).header("Cookie", arguments[3])
                    .POST(BodyPublishers.ofByteArray(all)).build(), BodyHandlers.ofString());
            check(answer.statusCode() == 200, "resource: " + answer.statusCode());
            System.out.println(answer.body());
        }
    }
}
