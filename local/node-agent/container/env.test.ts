import { describe, expect, test } from 'vitest'
import { expand, readPodField, resolveEnv, serviceEnv, type EnvSources } from './env.ts'
import type { Pod, Service } from '../objects.ts'

describe('expand', () => {
  test.each([
    ['a known name', 'http://$(HOST):80', 'http://h:80'],
    ['an unknown name stays', '$(NOBODY)/x', '$(NOBODY)/x'],
    ['an escaped reference', '$$(HOST)', '$(HOST)'],
    ['an escape before a reference', '$$$(HOST)', '$h'],
    ['a lone dollar', 'cost: 5$ $HOST', 'cost: 5$ $HOST'],
    ['twice in one value', '$(HOST)$(HOST)', 'hh'],
    ['a dotted name', '$(a.b)', 'dotted'],
  ])('%s', (_name, text, wanted) => {
    expect(expand(text, { HOST: 'h', 'a.b': 'dotted' })).toBe(wanted)
  })
})

const sources: EnvSources = {
  readConfigMap: async (name) => (name === 'settings' ? { LEVEL: 'debug', HOST: 'from-map' } : undefined),
  readSecret: async (name) => (name === 'keys' ? { key: 's3cret' } : undefined),
  readField: (fieldPath) => `<${fieldPath}>`,
}

const resolve = (container: object) => resolveEnv({ name: 'a', ...container }, { SERVICE: 's' }, sources)

describe('resolveEnv', () => {
  test('applies whole maps first, then single values, in order', async () => {
    const env = await resolve({
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'keys' } }],
      env: [
        { name: 'P_HOST', value: 'own' },
        { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } },
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'URL', value: '$(P_HOST)/$(SERVICE)/$(LATER)' },
        { name: 'LATER', value: 'too late' },
      ],
    })
    expect(env).toEqual({
      P_LEVEL: 'debug',
      P_HOST: 'own',
      key: 's3cret',
      KEY: 's3cret',
      IP: '<status.podIP>',
      URL: 'own/s/$(LATER)',
      LATER: 'too late',
    })
  })

  test('leaves out what is missing and optional', async () => {
    const optional = { name: 'nobody', key: 'x', optional: true }
    const env = await resolve({
      envFrom: [{ secretRef: { name: 'nobody', optional: true } }],
      env: [{ name: 'A', valueFrom: { configMapKeyRef: optional } }],
    })
    expect(env).toEqual({})
  })

  test.each([
    ['secret "nobody" not found', { secretKeyRef: { name: 'nobody', key: 'x' } }],
    ["couldn't find key other in secret keys", { secretKeyRef: { name: 'keys', key: 'other' } }],
    ['configmap "nobody" not found', { configMapKeyRef: { name: 'nobody', key: 'x' } }],
  ])('rejects: %s', async (message, valueFrom) => {
    await expect(resolve({ env: [{ name: 'A', valueFrom }] })).rejects.toThrow(message)
  })
})

test('serviceEnv has the services of the namespace that have an address', () => {
  const make = (namespace: string, name: string, spec: object) => ({ metadata: { namespace, name }, spec }) as Service
  const ports = [{ port: 8082, protocol: 'TCP', name: 'status-http', targetPort: 'http' }]
  const services = [
    make('mine', 'status-server', { clusterIP: '127.4.0.9', ports }),
    make('mine', 'headless', { clusterIP: 'None', ports }),
    make('other', 'far', { clusterIP: '127.4.0.8', ports }),
  ]
  expect(serviceEnv(services, 'mine')).toEqual({
    STATUS_SERVER_SERVICE_HOST: '127.4.0.9',
    STATUS_SERVER_SERVICE_PORT: '8082',
    STATUS_SERVER_SERVICE_PORT_STATUS_HTTP: '8082',
    STATUS_SERVER_PORT: 'tcp://127.4.0.9:8082',
    STATUS_SERVER_PORT_8082_TCP: 'tcp://127.4.0.9:8082',
    STATUS_SERVER_PORT_8082_TCP_PROTO: 'tcp',
    STATUS_SERVER_PORT_8082_TCP_PORT: '8082',
    STATUS_SERVER_PORT_8082_TCP_ADDR: '127.4.0.9',
  })
})

test.each([
  ['metadata.name', 'web-1'],
  ['status.podIP', '127.5.0.2'],
  ['status.hostIP', '127.0.0.1'],
  ["metadata.labels['app']", 'web'],
  ["metadata.annotations['none']", ''],
  ['metadata.labels', 'app="web"\ntier="a \\"b\\""'],
])('the field %s of a pod', (fieldPath, wanted) => {
  const pod = { metadata: { name: 'web-1', labels: { tier: 'a "b"', app: 'web' } } } as unknown as Pod
  expect(readPodField(pod, '127.5.0.2', fieldPath)).toBe(wanted)
})
