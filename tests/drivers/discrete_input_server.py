# SPDX-License-Identifier: Apache-2.0
"""A Modbus/TCP server of pymodbus, a stranger to libmodbus, with one discrete input (unit 1, input 3) for interlock tests.

Prints `port N` when it listens. Each line on its standard input sets the input: 1 closed, 0 open; `done` is printed when that
is so. It ends with its standard input, and so with the test.
"""
import asyncio
import sys

try:
    from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
    from pymodbus.server.async_io import ModbusTcpServer
except ImportError as error:
    print("no pymodbus:", error, file=sys.stderr)
    sys.exit(77)

INPUT = 3


async def main():
    inputs = ModbusSequentialDataBlock(0, [int(sys.argv[1])] * 8)
    context = ModbusServerContext(slaves=ModbusSlaveContext(di=inputs, zero_mode=True), single=True)
    server = ModbusTcpServer(context, address=("127.0.0.1", 0))
    serving = asyncio.ensure_future(server.serve_forever())
    await server.serving
    print("port", server.server.sockets[0].getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        inputs.setValues(INPUT, [int(line)])
        print("done", flush=True)
    serving.cancel()


asyncio.run(main())
