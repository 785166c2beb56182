import type { IncomingMessage } from 'node:http'
import { Problem } from './problem.ts'

/** Reports are numbers and short sentences: payloads and weights go between pod and store. */
const defaultBytes = 1024 * 1024

/**
 * Reads a request's JSON body; an empty one is `{}`.
 *
 * @throws {Problem} 413 above `maxBytes` (1 MiB unless told otherwise), 422 when it is not JSON
 */
export async function readJson(request: IncomingMessage, maxBytes = defaultBytes): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return size === 0 ? {} : parseJson(Buffer.concat(chunks))
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), storableValue)
  } catch (cause) {
    throw new Problem(422, 'the body is not JSON', { cause })
  }
}

/** Postgres stores neither NUL characters nor halves of surrogate pairs, and an error message may hold both. */
function storableValue(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value
}

function tooLarge(maxBytes: number): Problem {
  return new Problem(413, `the body is larger than ${maxBytes} bytes`)
}
