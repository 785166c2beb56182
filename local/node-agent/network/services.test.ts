import { expect, test } from 'vitest'
import type { Pod, Service } from '../objects.ts'
import { findBackends, listListeners } from './services.ts'

const service = (spec: object) =>
  ({ metadata: { namespace: 'n', name: 's', uid: 'u' }, spec: { selector: { app: 'web' }, ...spec } }) as Service

const pod = (podIP: string, { ready = 'True', labels = { app: 'web' }, ...metadata }: Record<string, unknown> = {}) =>
  ({
    metadata: { namespace: 'n', labels, ...metadata },
    spec: { containers: [{ name: 'side' }, { name: 'web', ports: [{ name: 'http', containerPort: 8000 }] }] },
    status: { podIP, conditions: [{ type: 'Ready', status: ready }] },
  }) as Pod

const http = { port: 80, targetPort: 'http', nodePort: 30_080 }

test('a service is served at its cluster address and at its node port', () => {
  const wanted = service({ clusterIP: '127.4.0.9', ports: [http, { port: 53, protocol: 'UDP' }] })
  const found = listListeners(wanted).map(({ host, port }) => `${host}:${port}`)
  expect(found).toEqual(['127.4.0.9:80', '127.0.0.1:30080'])
})

test.each([
  ['without a selector', { selector: undefined, clusterIP: '127.4.0.1', ports: [{ port: 443 }] }],
  ['without an address', { clusterIP: 'None', ports: [{ port: 80 }] }],
  ['elsewhere', { type: 'ExternalName', ports: [{ port: 80 }] }],
])('a service %s is not served', (_name, spec) => {
  expect(listListeners(service(spec))).toEqual([])
})

test('only ready pods of the service that are not terminating are backends', () => {
  const pods = [
    pod('127.5.0.2'),
    pod('127.5.0.3', { ready: 'False' }),
    pod('127.5.0.4', { labels: { app: 'other' } }),
    pod('127.5.0.5', { namespace: 'elsewhere' }),
    pod('127.5.0.6', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  ]
  const wanted = service({ ports: [http] })
  expect(findBackends(wanted, http as never, pods)).toEqual([{ host: '127.5.0.2', port: 8000 }])
})

test.each([
  ['by number', { port: 80, targetPort: 9000 }, [{ host: '127.5.0.2', port: 9000 }]],
  ['the same when not given', { port: 80 }, [{ host: '127.5.0.2', port: 80 }]],
  ['an unknown name', { port: 80, targetPort: 'grpc' }, []],
])('the target port: %s', (_name, port, wanted) => {
  expect(findBackends(service({ ports: [port] }), port as never, [pod('127.5.0.2')])).toEqual(wanted)
})
