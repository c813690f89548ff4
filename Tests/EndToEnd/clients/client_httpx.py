"""client_httpx.py PROXY-PORT ORIGIN CA [RESOURCE COOKIE]: the exchanges of test_real_clients.py with httpx, in HTTP/2 alone; then all
bytes there are, posted to RESOURCE, and what it answers."""

import ssl
import sys

import httpx

port, origin, ca, *resource = sys.argv[1:]
BODY = b"h" * 100_000


def pieces():
    for start in range(0, len(BODY), 9_999):
        yield BODY[start:start + 9_999]


def checked(answer):
    assert (answer.status_code, answer.http_version) == (200, "HTTP/2"), answer
    return answer


with httpx.Client(
        http1=False, http2=True, proxy=f"http://127.0.0.1:{port}", verify=ssl.create_default_context(cafile=ca),
        trust_env=False) as client:
    for _ in range(20):
        assert checked(client.get(f"{origin}/get")).text == "hello"
    for content in (BODY, pieces()):
        assert checked(client.post(f"{origin}/echo", content=content)).content == BODY
    assert len(checked(client.get(f"{origin}/chunked")).content) == 200_000
    print("ok")
    if resource:
        url, cookie = resource
        print(checked(client.post(url, content=bytes(range(256)), headers={"Cookie": cookie})).text)
