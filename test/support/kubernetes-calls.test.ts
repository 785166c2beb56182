import { expect, test } from 'vitest'
import { comparePermissions, listPermissions, parseAuditEvent } from './kubernetes-calls.ts'

const log = (event: object) => parseAuditEvent(JSON.stringify({ userAgent: 'trainyard-operator', ...event }))
const part = 'operator'

test('an audit log has the calls of our parts, and a patch that creates needs the permission to create', () => {
  const model = { apiGroup: 'trainyard.dev', resource: 'models', name: 'a' }
  expect(log({ verb: 'patch', objectRef: { ...model, subresource: 'status' }, responseStatus: { code: 200 } })).toEqual(
    [{ part, verb: 'patch', resource: 'models.trainyard.dev/status', name: 'a' }],
  )
  const service = { resource: 'services', name: 'b' }
  expect(log({ verb: 'patch', objectRef: service, responseStatus: { code: 201 } })).toEqual([
    { part, verb: 'patch', resource: 'services', name: 'b' },
    { part, verb: 'create', resource: 'services', name: '' },
  ])
  expect(log({ verb: 'get', objectRef: service, userAgent: 'kubectl/v1.36.3' })).toEqual([])
  expect(log({ verb: 'get' })).toEqual([])
})

test('calls and permissions are compared both ways', () => {
  const permissions = listPermissions([
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['ours'], verbs: ['get', 'update'] },
    { apiGroups: ['trainyard.dev'], resources: ['models/status'], verbs: ['patch'] },
  ])
  const calls = [
    { verb: 'list', resource: 'pods', name: '' },
    { verb: 'delete', resource: 'pods', name: 'a' },
    { verb: 'get', resource: 'leases.coordination.k8s.io', name: 'ours' },
    { verb: 'update', resource: 'leases.coordination.k8s.io', name: 'other' },
    { verb: 'patch', resource: 'models.trainyard.dev/status', name: 'm' },
  ]
  expect(comparePermissions(calls, permissions)).toEqual({
    missing: ['delete pods a', 'update leases.coordination.k8s.io other'],
    unused: ['watch pods', 'update leases.coordination.k8s.io ours'],
  })
})
