import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { findFreePort } from './free-port.ts'

test('the system cannot assign a free port to another program in the meantime', async () => {
  const lowest = Number((await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')).split(/\s/)[0])
  for (let times = 0; times < 20; times++) {
    const port = await findFreePort()
    expect(port).toBeLessThan(lowest)
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
  }
})
