import { expect, test } from 'vitest'
import { overlayMetadata, overlaySpec } from './template.ts'

const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const spec = { serviceAccountName: 'a', containers: [{ name: 'engine', securityContext: security }] }

test('without a template, a pod stays as it is', () => {
  expect(overlaySpec(spec, undefined)).toBe(spec)
  expect(overlaySpec(spec, { metadata: { labels: { a: 'b' } } })).toBe(spec)
  expect(overlayMetadata({ labels: { a: 'b' } }, undefined)).toEqual({ labels: { a: 'b' } })
})

test('labels and annotations of a template are added, and ours stay', () => {
  const template = { metadata: { labels: { ours: 'x', team: 'nlp' }, annotations: { ours: 'x', note: 'a' } } }
  expect(overlayMetadata({ labels: { ours: '1' }, annotations: { ours: '1' } }, template)).toEqual({
    labels: { ours: '1', team: 'nlp' },
    annotations: { ours: '1', note: 'a' },
  })
})

test('all containers stay without rights, additional ones too', () => {
  const weak = { allowPrivilegeEscalation: true, capabilities: { add: ['SYS_ADMIN'], drop: [] } }
  const added = [
    { name: 'engine', securityContext: { ...weak, runAsUser: 7 } },
    { name: 'logs', securityContext: weak },
    { name: 'plain' },
  ]
  expect(overlaySpec(spec, { spec: { containers: added, initContainers: added.slice(1) } })).toEqual({
    serviceAccountName: 'a',
    containers: [
      { name: 'engine', securityContext: { ...security, runAsUser: 7 } },
      { name: 'logs', securityContext: security },
      { name: 'plain', securityContext: security },
    ],
    initContainers: [
      { name: 'logs', securityContext: security },
      { name: 'plain', securityContext: security },
    ],
  })
})
