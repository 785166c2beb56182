import { describe, expect, test } from 'vitest'
import { createHelm, parseManifests } from '../support/helm.ts'
import type { NetworkPolicySpec } from '../support/network-policies.ts'
import { useStack } from '../support/stack.ts'

const helm = createHelm(useStack())
const namespace = 'policies'

/** The policies that the chart makes on a cluster with an API. */
async function listPolicies(values: object, api?: string): Promise<NetworkPolicySpec[]> {
  const manifests = parseManifests(await helm.render(namespace, values, ...(api ? ['--api-versions', api] : [])))
  return manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as NetworkPolicySpec)
}

describe('by default', () => {
  test('there are none without an API of a plugin that enforces them', async () => {
    expect(await listPolicies({})).toEqual([])
  })

  test('there are none on EKS, which has an API also while nobody enforces them', async () => {
    expect(await listPolicies({}, 'networking.k8s.aws/v1alpha1')).toEqual([])
  })

  test.each([
    'crd.projectcalico.org/v1',
    'projectcalico.org/v3',
    'cilium.io/v2',
    'crd.antrea.io/v1beta1',
    'k8s.ovn.org/v1',
    'kubeovn.io/v1',
    'k3s.cattle.io/v1',
  ])('with %s, no pod is closed for connections that it opens', async (api) => {
    const bucket = { s3: { bucket: 'models', endpoint: 'http://minio:9000' } }
    const policies = await listPolicies({ artifacts: bucket }, api)
    expect(policies.length).toBeGreaterThan(5)
    expect(policies.filter(({ policyTypes }) => policyTypes.join() !== 'Ingress')).toEqual([])
    expect(policies.filter((policy) => 'egress' in policy)).toEqual([])
  })
})

test('what is set wins over what the cluster has', async () => {
  expect(await listPolicies({ networkPolicies: { enabled: false } }, 'cilium.io/v2')).toEqual([])
  const wanted = { networkPolicies: { enabled: true } }
  const policies = await listPolicies(wanted)
  expect(policies.some(({ policyTypes }) => policyTypes.includes('Egress'))).toBe(true)
  expect(await listPolicies(wanted, 'cilium.io/v2')).toEqual(policies)
})

// test/helm installs on a cluster with such an API.
test.each<[string, object, string]>([
  [
    'null',
    {},
    'There are no NetworkPolicies: the cluster has no API of a network plugin that the chart knows to enforce them. If its plugin does, set networkPolicies.enabled=true.',
  ],
  ['false', { networkPolicies: { enabled: false } }, 'There are no NetworkPolicies (networkPolicies.enabled=false).'],
  [
    'true',
    { networkPolicies: { enabled: true } },
    'NetworkPolicies close connections to its pods and from them, except those that it needs (networkPolicies.enabled=true).',
  ],
])('with enabled: %s, an installation says whether there are policies, and why', async (_, values, line) => {
  const lines = (await helm.notes(namespace, values)).split('\n')
  expect(lines.filter((each) => each.includes('NetworkPolicies'))).toEqual([line])
})
