import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enginePort } from '../../crds/engine-address.ts'
import { createLogger } from '../../lib/log.ts'
import type { Kube } from '../kube.ts'
import { checkEngines } from './engines.ts'

const [ip, loopback, closed] = ['::1', '127.77.4.1', '127.77.4.2']
const hasIPv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === ip))
const engines: Server[] = []

beforeAll(async () => {
  for (const address of hasIPv6 ? [ip, loopback] : [loopback]) engines.push(await startEngine(address))
})
afterAll(() => engines.forEach((engine) => engine.close()))

async function startEngine(address: string): Promise<Server> {
  const answers: Record<string, object> = {
    '/version': { version: '1.0' },
    '/v1/models': { data: [{ parent: 'base' }] },
  }
  const engine = createServer((request, reply) => reply.end(JSON.stringify(answers[request.url ?? ''])))
  await once(engine.listen(enginePort, address), 'listening')
  return engine
}

function check(addresses: string[]) {
  const labels = { 'trainyard.dev/base-model': 'tiny' }
  const pods = addresses.map((address) => ({ name: address, labels, ip: address, ready: true }))
  const kube: Kube = {
    createResource: async () => true,
    listBaseModels: async () => [],
    listPods: async () => pods,
    watchPods: () => ({ list: () => pods, stop: async () => {} }),
    readVersion: async () => 'v1',
  }
  const deps = { kube, log: createLogger('test', 'silent'), engineKeys: ['key'] }
  return checkEngines(deps, AbortSignal.timeout(3_000))
}

test.runIf(hasIPv6)('an engine with an IPv6 address is checked', async () => {
  expect(await check([ip])).toEqual({
    ok: true,
    detail: '1 of 1 ready',
    engines: [{ base_model: 'tiny', ready: true, adapters: 1 }],
    forAdmins: { versions: ['1.0'] },
  })
})

test.each([
  ['all of them answer', [loopback], true, '1 of 1 ready'],
  ['one does not answer', [loopback, closed], false, '1 of 2 ready'],
  ['there is none', [], false, 'no engine pod'],
])('where %s', async (_, addresses, ok, detail) => {
  expect(await check(addresses)).toMatchObject({ ok, detail })
})
