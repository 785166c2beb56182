import { expect, test } from 'vitest'
import { minorOf, parseVersions } from './versions.ts'

const goMod = `module trainyard.dev/local/go

require (
	go.etcd.io/etcd/server/v3 v3.6.16 // indirect
	helm.sh/helm/v4 v4.2.4 // indirect
	k8s.io/kubernetes v1.36.3 // indirect
)
`

test('the pinned versions come from go.mod', () => {
  expect(parseVersions(goMod, '')).toEqual({
    kubernetes: 'v1.36.3',
    etcd: 'v3.6.16',
    helm: 'v4.2.4',
    key: expect.stringMatching(/^kubernetes-v1\.36\.3-[0-9a-f]{12}$/),
  })
})

test('the key changes with any module', () => {
  expect(parseVersions(goMod, 'a').key).not.toBe(parseVersions(goMod, 'b').key)
})

test('a go.mod without Kubernetes is rejected', () => {
  expect(() => parseVersions('module x\n', '')).toThrow('go.mod requires no k8s.io/kubernetes')
})

test.each([
  ['Kubernetes v1.36.3', 36],
  ['Client Version: v1.32.4-dispatcher', 32],
  ['etcd Version: 3.6.16', undefined],
])('the minor of "%s" is %s', (text, minor) => {
  expect(minorOf(text)).toBe(minor)
})
