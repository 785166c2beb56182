import type { Socket } from 'node:net'

// A copy of a larger request takes longer than writing its two parts.
const maxBytes = 16 * 1024
// All sockets share it: usually, the operating system accepts all bytes at once.
let shared = Buffer.allocUnsafeSlow(maxBytes)

/**
 * Writes the head and the body of a small request as one buffer, which takes less time than two parts. Returns false,
 * and writes nothing, for a larger request and for a socket that is not connected yet.
 */
export function writeSmall(socket: Socket, head: string, body: Buffer): boolean {
  if (socket.connecting || head.length + body.length > maxBytes) return false
  const headBytes = shared.write(head, 0, 'latin1')
  socket.write(shared.subarray(0, headBytes + body.copy(shared, headBytes)))
  // The operating system has not accepted all bytes, so this socket keeps the buffer.
  if (socket.writableLength > 0) shared = Buffer.allocUnsafeSlow(maxBytes)
  return true
}
