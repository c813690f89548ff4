"""client_aiohttp.py PROXY-PORT ORIGIN: the exchanges of test_real_clients.py, an event stream and a WebSocket with aiohttp."""

import asyncio
import sys

import aiohttp


async def pieces(body):
    for start in range(0, len(body), 10_000):
        yield body[start:start + 10_000]


async def main(port, origin):
    proxy = f"http://127.0.0.1:{port}"
    body = b"a" * 100_000
    async with aiohttp.ClientSession() as client:
        for _ in range(20):
            async with client.get(f"{origin}/get", proxy=proxy) as answer:
                assert (answer.status, await answer.text()) == (200, "hello")
        for data in (body, pieces(body)):
            async with client.post(f"{origin}/echo", data=data, proxy=proxy) as answer:
                assert await answer.read() == body
        async with client.get(f"{origin}/chunked", proxy=proxy) as answer:
            assert len(await answer.read()) == 200_000
        async with client.get(f"{origin}/events", proxy=proxy) as answer:
            # the origin waits for the event before to be told of before it says the next
            for number in range(3):
                assert (await answer.content.readline()).decode() == f"data: {number}\n"
                await answer.content.readline()
                async with client.post(f"{origin}/seen", data=str(number), proxy=proxy) as seen:
                    assert seen.status == 200
        async with client.ws_connect(f"{origin}/socket", proxy=proxy) as socket:
            for word in ("first", "second" * 1000):
                await socket.send_str(word)
                assert (await socket.receive(10)).data == word
    print("ok")


asyncio.run(main(*sys.argv[1:]))
