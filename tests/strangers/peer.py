# SPDX-License-Identifier: Apache-2.0
"""An independent client of Lightloom's wire, written from docs/wire.md and proto/*.proto alone: a CURVE DEALER, batches, envelopes.

It shares no code with the product on purpose. What it cannot do, the documents do not say how to do; what the product takes and this
client cannot say is not part of the protocol. It never retries and never corrects: a judge decides what is to be sent.
"""
import atexit
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import time

SKIP = 77  # CTest's SKIP_RETURN_CODE

try:
    import zmq
    import zmq.utils.monitor
except ImportError:
    print("skip: python3-zmq is not installed (apt install python3-zmq)")
    sys.exit(SKIP)
try:
    import google.protobuf  # noqa: F401  (the generated classes need it)
except ImportError:
    print("skip: python3-protobuf is not installed (apt install python3-protobuf)")
    sys.exit(SKIP)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WIRE_VERSION = 1



def _generate():
    """The classes of proto/lightloom.proto, made by protoc in a temporary folder: nothing generated is kept in the tree. A process
    that this one starts takes them from there."""
    given = os.environ.get("LIGHTLOOM_STRANGER_PROTO")
    folder = pathlib.Path(given or tempfile.mkdtemp(prefix="loom-stranger-proto-"))
    if not given:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        schemas = [f"proto/{name}.proto" for name in ("values", "report", "grant", "lightloom")]
        try:
            subprocess.run(["protoc", "-I", str(ROOT), f"--python_out={folder}", *schemas], cwd=ROOT, check=True)
        except FileNotFoundError:
            print("skip: protoc is not installed (apt install protobuf-compiler)")
            sys.exit(SKIP)
        os.environ["LIGHTLOOM_STRANGER_PROTO"] = str(folder)
    sys.path.insert(0, str(folder))
    from proto import lightloom_pb2, report_pb2, values_pb2
    return lightloom_pb2, report_pb2, values_pb2


wire, report, values = _generate()


# --- keys -------------------------------------------------------------------------------------------------------------------

def read_pair(path):
    """(public, secret) of a key file, Z85; secret is None in a .pub file."""
    words = dict(line.split(None, 1) for line in pathlib.Path(path).read_text().splitlines() if line.strip())
    return words["public"].strip(), words.get("secret", "").strip() or None


def new_pair():
    public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()


# --- batches ----------------------------------------------------------------------------------------------------------------

def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def batch(envelopes):
    """One frame: each envelope (a message or its bytes) behind its length as a varint."""
    parts = []
    for envelope in envelopes:
        data = envelope if isinstance(envelope, bytes) else envelope.SerializeToString()
        parts.append(varint(len(data)) + data)
    return b"".join(parts)


def link_batch(envelopes):
    """A frame between agents, of (node, envelope): there each envelope stands behind the number of the node that it is for."""
    return batch(node.to_bytes(4, "big") + envelope.SerializeToString() for node, envelope in envelopes)


def read_varint(frame, at):
    number = shift = 0
    while True:
        byte = frame[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def split_batch(frame):
    """The bytes of each envelope of a frame."""
    at, out = 0, []
    while at < len(frame):
        length, at = read_varint(frame, at)
        if at + length > len(frame):
            raise ValueError(f"an envelope of {length} bytes at offset {at} of a frame of {len(frame)}")
        out.append(frame[at:at + length])
        at += length
    return out


# --- envelopes --------------------------------------------------------------------------------------------------------------

def request(request_id, role=report.ROLE_OPERATOR, **ask):
    """An operator's envelope; ask is one field of OperatorRequest: query=..., submit_job=..."""
    envelope = wire.Envelope(wire_version_number=WIRE_VERSION, role=role)
    envelope.operator_request.request_id = request_id
    for field, value in ask.items():
        part = getattr(envelope.operator_request, field)
        part.SetInParent()
        part.CopyFrom(value)
    return envelope


def query(noun, row=None, offset=0, limit=0):
    out = wire.Query(noun=noun, offset_count=offset, limit_count=limit)
    if row is not None:
        out.row_id = row
    return out


def agent_envelope(node, clock=0, term=0, revision=0, **body):
    """An agent's envelope; body is one field of Envelope: hello=..., heartbeat=..."""
    envelope = wire.Envelope(wire_version_number=WIRE_VERSION, role=report.ROLE_AGENT, node_id=node, clock_id=clock,
                             term_number=term, revision_number=revision)
    for field, value in body.items():
        part = getattr(envelope, field)
        part.SetInParent()
        part.CopyFrom(value)
    return envelope


def error_name(error):
    return report.ErrorCode.Name(error.code).removeprefix("ERROR_CODE_").lower()


# --- the connection ---------------------------------------------------------------------------------------------------------

class Peer:
    """One DEALER with one key. Not for two threads."""

    def __init__(self, address, pair, server_public, role=report.ROLE_OPERATOR, receive_limit=0, watch=False):
        self.role = role
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.sndhwm = 0
        self.socket.sndtimeo = 1000  # a socket whose key was refused has nowhere to send to, and would wait for ever
        self.unsent = 0
        self.socket.rcvhwm = receive_limit
        self.socket.reconnect_ivl = 20
        self.socket.curve_publickey = pair[0].encode()
        self.socket.curve_secretkey = pair[1].encode()
        self.socket.curve_serverkey = server_public.encode()
        self.monitor = self.socket.get_monitor_socket() if watch else None
        self.socket.connect(address)
        self.next_request = secrets.randbits(62) + 1
        self.replies = {}
        self.others = []  # envelopes that answer no request: Welcome, Prepare, Beat ...

    def close(self, linger_ms=0):
        if self.socket.closed:
            return
        if self.monitor is not None:
            self.socket.disable_monitor()
            self.monitor.close(0)
        self.socket.close(linger_ms)
        self.context.destroy(linger_ms)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, *envelopes):
        self.send_parts(batch(envelopes))

    def send_parts(self, *parts):
        try:
            self.socket.send_multipart(parts)
        except zmq.Again:
            self.unsent += 1

    def receive(self, timeout_s=0.0):
        """Sorts all that is there into replies and others; waits for the first frame at most so long. How many envelopes came."""
        count, wait_ms = 0, int(timeout_s * 1000)
        while self.socket.poll(wait_ms):
            wait_ms = 0
            for data in split_batch(self.socket.recv_multipart()[-1]):
                envelope = wire.Envelope.FromString(data)
                count += 1
                if envelope.WhichOneof("body") == "operator_reply":
                    self.replies[envelope.operator_reply.request_id] = envelope.operator_reply
                else:
                    self.others.append(envelope)
            if count >= 10000:
                break
        return count

    def hear(self, seconds):
        """The others that come within so many seconds, one by one."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.receive(min(left, 0.05))
            heard, self.others = self.others, []
            yield from heard

    def post(self, **ask):
        """Sends one request, does not wait. Its number."""
        self.next_request += 1
        self.send(request(self.next_request, role=self.role, **ask))
        return self.next_request

    def ask(self, timeout_s=5.0, **ask):
        """One request and its reply, or None when none came."""
        number = self.post(**ask)
        until = time.monotonic() + timeout_s
        while number not in self.replies and time.monotonic() < until:
            self.receive(max(0.0, until - time.monotonic()))
        return self.replies.pop(number, None)

    def status(self, timeout_s=5.0):
        reply = self.ask(timeout_s, query=query(wire.NOUN_STATUS))
        return reply.status if reply is not None and reply.WhichOneof("rows") == "status" else None

    def handshake(self, timeout_s=2.0):
        """What became of the handshake: "succeeded", "refused" (by ZAP), "failed" (other), or "nothing" (Peer(watch=True))."""
        names = {zmq.EVENT_HANDSHAKE_SUCCEEDED: "succeeded", zmq.EVENT_HANDSHAKE_FAILED_AUTH: "refused",
                 zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL: "failed", zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: "failed"}
        until = time.monotonic() + timeout_s
        while (left := until - time.monotonic()) > 0:
            if self.monitor.poll(int(left * 1000) + 1):
                event = zmq.utils.monitor.recv_monitor_message(self.monitor)["event"]
                if event in names:
                    return names[event]
        return "nothing"
