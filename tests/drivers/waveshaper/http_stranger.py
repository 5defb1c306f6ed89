# SPDX-License-Identifier: Apache-2.0
"""Python's own HTTP client at an emulated WaveShaper: keeps one connection, sends what no browser would, and says what it saw.

Usage: http_stranger.py PORT. Prints a line a promise that is broken, and nothing else; exit code 1 if there is one.
"""

import http.client
import json
import socket
import sys

PORT = int(sys.argv[1])
broken = []


def check(what, seen, wanted):
    if seen != wanted:
        broken.append(f"{what}: saw {seen!r}, expected {wanted!r}")


def one_connection():
    client = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    client.request("GET", "/waveshaper/devinfo")
    first_socket = client.sock
    info = json.loads(client.getresponse().read())
    check("devinfo", (info["portcount"], info["startfreq"], info["rc"]), (4, 191.25, 0))

    def post(order):
        client.request("POST", "/waveshaper/loadprofile", body=order, headers={"Content-Type": "application/json"})
        reply = client.getresponse()
        return reply.status, json.loads(reply.read())

    def profile():
        client.request("GET", "/waveshaper/getprofile")
        return [line.split("\t") for line in client.getresponse().read().decode().splitlines()]

    lines = [f"{191.25 + i / 1000:.4f}\t{0 if 1850 <= i < 1950 else 60:.4f}\t0.0000\t{3 if 1850 <= i < 1950 else 0}" for i in range(5026)]
    status, verdict = post(json.dumps({"type": "wsp", "wsp": "\n".join(lines) + "\n"}))
    check("a profile of the C band", (status, verdict["rc"]), (200, 0))
    seen = profile()
    check("its lines", len(seen), 5026)
    check("its first open line", next(line for line in seen if line[3] != "0"), ["193.1000", "0.0000", "0.0000", "3"])
    check("how many are open", sum(line[3] == "3" for line in seen), 100)
    for order in ({"type": "bandpass", "port": 1, "center": 193.1, "bandwidth": 0.05, "attn": 0},
                  {"type": "bandstop", "port": 2, "center": 193.1, "bandwidth": 0.05, "attn": 1.5},
                  {"type": "gaussian", "port": 4, "center": 193.1, "bandwidth": 0.05, "attn": 0},
                  {"type": "transmit"}):
        check(order["type"], post(json.dumps(order))[1]["rc"], 0)
        check(f"{order['type']} opens", any(line[3] == str(order.get("port", 1)) for line in profile()), True)
    unsorted = "193.2000\t0.0\t0.0\t1\n193.1000\t0.0\t0.0\t1\n"
    for order, code in (("hello", -1), (json.dumps({"type": "notch"}), -2), (json.dumps({"type": "wsp", "wsp": unsorted}), -3),
                        (json.dumps({"type": "wsp", "wsp": "180.0\t0\t0\t1\n"}), -4),
                        (json.dumps({"type": "transmit", "port": 9}), -5), ("[" * 100000, -1), ("\xff\xfe".encode("latin-1"), -1)):
        status, verdict = post(order)
        check(f"{order[:30]!r}", (status, verdict["rc"], bool(verdict["rctext"])), (200, code, True))
    check("after refusals it shows what it showed", any(line[3] == "1" for line in profile()), True)
    check("blockall", post(json.dumps({"type": "blockall"}))[1]["rc"], 0)
    check("blockall blocks", {line[3] for line in profile()}, {"0"})
    check("one connection for all of it", client.sock is first_socket, True)
    client.close()


def status_of(method, path, body=None, headers=None):
    client = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    client.request(method, path, body=body, headers=headers or {})
    reply = client.getresponse()
    status = reply.status, reply.getheader("Allow"), len(reply.read())
    client.close()
    return status


def raw(data):
    with socket.create_connection(("127.0.0.1", PORT), timeout=10) as line:
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while part := line.recv(65536):
                answer += part
        except ConnectionResetError:
            pass
        return answer


def manners():
    check("no such path", status_of("GET", "/")[:2], (404, None))
    check("wrong method", status_of("POST", "/waveshaper/devinfo", body="{}")[:2], (405, "GET"))
    check("wrong method of a load", status_of("GET", "/waveshaper/loadprofile")[:2], (405, "POST"))
    check("HEAD", status_of("HEAD", "/waveshaper/devinfo")[:2], (405, "GET"))
    check("chunks", status_of("POST", "/waveshaper/loadprofile", body=iter([b'{"type":', b'"blockall"}']))[0], 200)
    check("too much is announced", raw(b"POST /waveshaper/loadprofile HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n")[:12], b"HTTP/1.1 413")
    check("no HTTP", raw(b"*idn?\r\n\r\n")[:12], b"HTTP/1.1 400")
    check("a head without end", raw(b"GET / HTTP/1.1\r\nX: " + b"y" * 20000)[:12], b"HTTP/1.1 431")
    check("two at once", raw(b"GET /waveshaper/devinfo HTTP/1.1\r\n\r\n" * 2).count(b"portcount"), 2)
    check("half a request", raw(b"GET /waveshaper/dev"), b"")
    check("a body that stops", raw(b"POST /waveshaper/loadprofile HTTP/1.1\r\nContent-Length: 10\r\n\r\n{"), b"")
    check("a name as a proxy gets it", raw(b"GET http://filter/waveshaper/devinfo HTTP/1.1\r\nHost: filter\r\n\r\n")[:12], b"HTTP/1.1 200")
    noise = bytes((i * 7919 + 13) % 256 for i in range(200_000))
    for begin in range(0, 200_000, 20_000):
        raw(noise[begin:begin + 20_000])
    check("it lives", status_of("GET", "/waveshaper/devinfo")[0], 200)


one_connection()
manners()
for line in broken:
    print(line)
sys.exit(1 if broken else 0)
