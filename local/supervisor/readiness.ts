import { readFileSync } from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import type { Readiness } from '../stack/programs/program-spec.ts'

const timeoutMs = 2_000

/** Checks once whether a program is ready. */
export async function isReady(readiness: Readiness): Promise<boolean> {
  try {
    if (readiness.kind === 'socket') return await accepts({ path: readiness.path })
    if (readiness.kind === 'port') return await accepts({ host: '127.0.0.1', port: readiness.port })
    if (readiness.kind === 'kubernetes') return await answersOk(readiness)
    if (readiness.kind === 'postmaster') return isPostmasterReady(readFileSync(readiness.pidFile, 'utf8'))
    return true
  } catch {
    // Its files do not exist yet.
    return false
  }
}

/** The eighth line of Postgres' `postmaster.pid` is its state. */
export function isPostmasterReady(pidFile: string): boolean {
  return pidFile.split('\n')[7]?.trim() === 'ready'
}

function accepts(address: net.NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(address)
    const settle = (accepted: boolean) => {
      socket.destroy()
      resolve(accepted)
    }
    socket.setTimeout(timeoutMs, () => settle(false))
    socket.once('connect', () => settle(true)).once('error', () => settle(false))
  })
}

function answersOk({ url, authority, tokenFile }: Readiness & { kind: 'kubernetes' }): Promise<boolean> {
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8')}` }
  return new Promise((resolve) => {
    const request = https.get(url, { ca: readFileSync(authority), headers, agent: false, timeout: timeoutMs })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(false))
    request.once('response', (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
  })
}
