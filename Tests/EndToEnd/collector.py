"""A collector of traces: takes OTLP over HTTP in JSON, and looks closely at what it is given."""

import http.server
import json
import re
import ssl
import threading

import programs


class Collector:
    def __init__(self, statuses=(), context=None):
        """Answers with `statuses` in their order, then with 200."""
        self.statuses = list(statuses)
        self.spans = []
        self.requests = []
        self.faults = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = outer.take(self.path, dict(self.headers), body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def take(self, path, headers, body):
        self.requests.append((path, headers))
        try:
            assert headers["Content-Type"] == "application/json", headers
            spans = read(json.loads(body))
        except Exception as error:  # whatever is wrong with it, the test is to know
            self.faults.append(repr(error))
            return 400
        status = self.statuses.pop(0) if self.statuses else 200
        if status == 200:
            self.spans += spans
        return status

    def wait(self, count):
        programs.eventually(lambda: len(self.spans) >= count or self.faults, f"{count} spans, have {self.spans}")
        assert not self.faults, self.faults
        return self.spans

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def secure(identity):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity)
    return context


def read(document):
    """The spans of an ExportTraceServiceRequest, each with its attributes as a dict; whatever else is in it is a fault."""
    spans = []
    assert set(document) == {"resourceSpans"}
    for resource in document["resourceSpans"]:
        assert set(resource) == {"resource", "scopeSpans"}
        about = attributes(resource["resource"]["attributes"])
        assert about["service.name"] and about["service.version"]
        for scope in resource["scopeSpans"]:
            assert set(scope) == {"scope", "spans"} and scope["scope"]["name"] == "usher"
            for span in scope["spans"]:
                assert set(span) <= {
                    "traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
                    "attributes", "status"}, span
                assert re.fullmatch("[0-9a-f]{32}", span["traceId"]) and set(span["traceId"]) != {"0"}
                assert re.fullmatch("[0-9a-f]{16}", span["spanId"]) and set(span["spanId"]) != {"0"}
                assert re.fullmatch("[0-9a-f]{16}", span.get("parentSpanId", "1" * 16))
                assert span["kind"] in (2, 3) and span["name"]
                start, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
                assert isinstance(span["startTimeUnixNano"], str) and 10**18 < start <= end
                span["attributes"] = attributes(span["attributes"])
                span["service"] = about["service.name"]
                spans.append(span)
    return spans


def attributes(pairs):
    found = {}
    for pair in pairs:
        assert set(pair) == {"key", "value"} and len(pair["value"]) == 1 and pair["key"] not in found
        (kind, value), = pair["value"].items()
        assert isinstance(value, str) and kind in ("stringValue", "intValue")
        found[pair["key"]] = int(value) if kind == "intValue" else value
    return found
