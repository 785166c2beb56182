import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorDefinition } from './error-table.ts'
import { httpErrors } from './errors.ts'
import { requestIdHeader } from './request-id.ts'
import { ServerConnections } from './server-connections.ts'

// The codes of Node's errors. Any other means that the request is not HTTP.
const definitions: Partial<Record<string, ErrorDefinition>> = {
  HPE_HEADER_OVERFLOW: httpErrors.headers_too_large,
  ERR_HTTP_REQUEST_TIMEOUT: httpErrors.request_timeout,
}

/**
 * Answers the requests that Node cannot read, then closes their connections. Node's own answers have neither a body nor
 * an id.
 */
export function answerUnreadableRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    const definition = definitions[error.code ?? ''] ?? httpErrors.malformed_request
    const mayAnswer = socket.writable && !ServerConnections.of(server).isInResponse(socket)
    // A client that is still sending would get a reset instead of the answer: the socket closes after its end.
    if (mayAnswer) socket.end(renderAnswer(definition), () => socket.destroy())
    else socket.destroy(error)
  })
}

function renderAnswer({ status, sentence }: ErrorDefinition): string {
  const body = JSON.stringify({ detail: sentence })
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `${requestIdHeader}: ${randomUUID()}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
