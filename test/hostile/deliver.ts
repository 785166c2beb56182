import { request, type ClientRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Attack, Delivery, Target } from './attack.ts'

const timeoutMs = 45_000
const slowPieces = 20
const slowPauseMs = 100

/** The status of the response. Undefined if the connection ended without one. */
export type Outcome = number | undefined

/** Sends a request and reads the response, of any length. */
export async function deliver(target: Target, attack: Attack, body: Buffer | undefined): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const isCompressed = attack.delivery === 'gzip'
  const sent = body && isCompressed ? gzipSync(body, { level: 1 }) : body
  const { hostname, port } = new URL(target.url)
  const asking = request({
    hostname,
    port,
    // The path is sent unchanged: a URL object would normalize it.
    path: attack.path,
    method: attack.method,
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      authorization: `Bearer ${target.keys[attack.role]}`,
      ...(sent && { 'content-type': 'application/json', 'content-length': sent.length }),
      ...(isCompressed && { 'content-encoding': 'gzip' }),
      ...attack.headers,
    },
  })
  asking.on('error', () => resolve(undefined))
  asking.on('response', (response) => {
    response.resume()
    response.on('close', () => resolve(response.statusCode))
  })
  await send(asking, sent, attack.delivery)
  return promise
}

async function send(asking: ClientRequest, body: Buffer | undefined, delivery: Delivery): Promise<void> {
  if (delivery === 'left') return void asking.end(body, () => asking.destroy())
  if (!body || delivery === 'whole' || delivery === 'gzip') return void asking.end(body)
  const pieceBytes = Math.ceil(body.length / slowPieces)
  // Sends half of the body, and then nothing more.
  const end = delivery === 'cut' ? Math.floor(body.length / 2) : body.length
  for (let at = 0; at < end && !asking.destroyed; at += pieceBytes) {
    asking.write(body.subarray(at, Math.min(at + pieceBytes, end)))
    if (delivery === 'slow') await delay(slowPauseMs)
  }
  if (delivery === 'cut') asking.destroy()
  else asking.end()
}
