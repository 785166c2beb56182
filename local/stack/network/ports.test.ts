import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { describeListener, listeningInodes, probePort } from '../../preflight/ports.mjs'
import { isPortFree, listensIn, pickPort } from './ports.ts'

let server: net.Server | undefined
afterEach(() => server?.close())

async function takePort(): Promise<number> {
  server = net.createServer()
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

test('a port in use is not free, and the error names the process that uses it', async () => {
  const port = await takePort()
  expect(await isPortFree(port)).toBe(false)
  expect(describeListener(port)).toContain(`(process ${process.pid})`)
})

test('a port in use is skipped', async () => {
  const port = await takePort()
  expect(await pickPort(port, port)).toBeGreaterThan(port)
})

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1
   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 222 1
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1
   3: 0500037F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 444 1
   4: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 555 1`

test('only sockets that listen on the port at 127.0.0.1 or at all addresses count', () => {
  expect(listeningInodes(table, 8080)).toEqual(['111', '555'])
})

test('a network is in use when a program listens in it', () => {
  expect(listensIn(table, '127.3')).toBe(true)
  expect(listensIn(table, '127.5')).toBe(false)
})

test('a program that listens on all addresses uses the port of every loopback address', async () => {
  server = net.createServer()
  await new Promise<void>((resolve) => server!.listen(0, '0.0.0.0', resolve))
  expect(await probePort((server.address() as AddressInfo).port, '127.255.255.254')).toBe('EADDRINUSE')
})
