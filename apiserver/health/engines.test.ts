import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enginePort } from '../../crds/engine-address.ts'
import { createLogger } from '../../lib/log.ts'
import type { Kube } from '../kube.ts'
import { checkEngines } from './engines.ts'

const ip = '::1'
const hasIPv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === ip))
let engine: Server

beforeAll(async () => {
  const answers: Record<string, object> = {
    '/version': { version: '1.0' },
    '/v1/models': { data: [{ parent: 'base' }] },
  }
  engine = createServer((request, reply) => reply.end(JSON.stringify(answers[request.url ?? ''])))
  if (hasIPv6) await once(engine.listen(enginePort, ip), 'listening')
})
afterAll(() => void engine.close())

test.runIf(hasIPv6)('an engine with an IPv6 address is asked', async () => {
  const pod = { name: 'engine-0', labels: { 'trainyard.dev/base-model': 'tiny' }, ip, ready: true }
  const kube: Kube = { createResource: async () => {}, listPods: async () => [pod], readVersion: async () => 'v1' }
  const deps = { kube, log: createLogger('test', 'silent'), engineKey: 'key' }
  expect(await checkEngines(deps, AbortSignal.timeout(3_000))).toEqual({
    ok: true,
    detail: '1 of 1 ready',
    engines: [{ base_model: 'tiny', ready: true, adapters: 1 }],
    forAdmins: { versions: ['1.0'] },
  })
})
