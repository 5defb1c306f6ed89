# SPDX-License-Identifier: Apache-2.0
"""A Modbus/TCP server of pymodbus, a stranger to libmodbus, with the holding registers of a board of heater outputs.

Arguments: ranges FIRST:COUNT:VALUE of holding registers; any other register is refused by pymodbus (exception 2). Prints
`port N` when it listens. Each line `FIRST COUNT` on its standard input is answered by those registers as they are. It ends
with its standard input, and so with the test.
"""
import asyncio
import logging
import sys

try:
    from pymodbus.datastore import ModbusServerContext, ModbusSlaveContext, ModbusSparseDataBlock
    from pymodbus.server.async_io import ModbusTcpServer
except ImportError as error:
    print("no pymodbus:", error, file=sys.stderr)
    sys.exit(77)


logging.disable(logging.CRITICAL)


async def main():
    registers = {}
    for text in sys.argv[1:]:
        first, count, value = (int(part) for part in text.split(":"))
        registers.update({first + i: value for i in range(count)})
    block = ModbusSparseDataBlock(registers)
    context = ModbusServerContext(slaves={7: ModbusSlaveContext(hr=block, zero_mode=True)}, single=False)
    server = ModbusTcpServer(context, address=("127.0.0.1", 0))
    serving = asyncio.ensure_future(server.serve_forever())
    await server.serving
    print("port", server.server.sockets[0].getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        first, count = (int(part) for part in line.split())
        print(*block.getValues(first, count), flush=True)
    serving.cancel()


asyncio.run(main())
