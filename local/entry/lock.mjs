import { createHash } from 'node:crypto'
import net from 'node:net'

// The lock is a listening socket in Linux's abstract namespace. The kernel releases it when its process ends, so that a
// stale lock is impossible. Waiters stay connected to the socket and try again when it closes.

export async function withLock(name, work, { onWait, signal } = {}) {
  const address = `\0trainyard-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  let hasWaited = false
  let server = await tryToHold(address)
  while (!server) {
    signal?.throwIfAborted()
    if (!hasWaited) onWait?.()
    hasWaited = true
    await waitForRelease(address, signal)
    server = await tryToHold(address)
  }
  try {
    return await work()
  } finally {
    release(server)
  }
}

function tryToHold(address) {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.waiters = new Set()
    server.on('connection', (socket) => {
      server.waiters.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => server.waiters.delete(socket))
    })
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(address, () => resolve(server.unref()))
  })
}

function release(server) {
  server.close()
  for (const socket of server.waiters) socket.destroy()
}

function waitForRelease(address, signal) {
  return new Promise((resolve) => {
    const socket = net.connect(address)
    const stop = () => socket.destroy()
    signal?.addEventListener('abort', stop, { once: true })
    socket.on('error', () => {})
    socket.on('close', () => {
      signal?.removeEventListener('abort', stop)
      // Another waiter may win between a release and the next try. The delay avoids a busy loop.
      setTimeout(resolve, 50)
    })
    socket.resume()
  })
}
