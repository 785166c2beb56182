import { randomInt } from 'node:crypto'
import path from 'node:path'
import { enginePort } from '../../../crds/engine-address.ts'
import { childEnvironment } from '../../../local/config.ts'
import { withContestant } from '../tracing/contestant.ts'
import type { EngineAddress } from './contestants/contestant.ts'

/** Runs the mock engine in its own process, on an address that other programs are unlikely to use. */
export function withMockEngine<T>(work: (engine: EngineAddress) => Promise<T>): Promise<T> {
  const host = `127.202.${randomInt(256)}.${1 + randomInt(254)}`
  const how = {
    command: process.execPath,
    args: [path.join(import.meta.dirname, 'mock-engine.ts'), host, String(enginePort)],
    env: childEnvironment({}),
    url: `http://${host}:${enginePort}`,
    healthPath: '/v1/models',
  }
  return withContestant(how, () => work({ host, port: enginePort }))
}
