import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createHelm, parseManifests, type Manifest } from '../support/helm.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()
const helm = createHelm(stack)
const namespace = `roles-${randomUUID().slice(0, 8)}`
const render = async (values: object) => parseManifests(await helm.render(namespace, values))

interface Role extends Manifest {
  rules: { resources: string[]; resourceNames?: string[]; verbs: string[] }[]
}

/** The rights of a part, such as `patch deployments` or `get leases/trainyard-operator`. */
async function listRights(part: string, values: object = {}): Promise<string[]> {
  const roles = (await render(values)).filter(({ kind }) => kind === 'Role') as Role[]
  const rules = roles.filter(({ metadata }) => metadata.name === `trainyard-${part}`).flatMap((role) => role.rules)
  const rights = rules.flatMap(({ resources, resourceNames = [''], verbs }) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource}${name && `/${name}`}`)),
    ),
  )
  return rights.toSorted()
}

const expand = (table: Record<string, string>) =>
  Object.entries(table)
    .flatMap(([resource, verbs]) => verbs.split(' ').map((verb) => `${verb} ${resource}`))
    .toSorted()

// The calls of the code; an audit log of kube-apiserver during control tests had no others. To apply an object that is not
// there needs create.
test.each<[string, Record<string, string>]>([
  [
    'operator',
    {
      basemodels: 'create delete get list patch watch',
      models: 'create delete get list patch watch',
      trainingjobs: 'create delete get list patch watch',
      'basemodels/status': 'patch',
      'models/status': 'patch',
      'trainingjobs/status': 'patch',
      deployments: 'create list patch watch',
      services: 'create list patch watch',
      poddisruptionbudgets: 'create delete list patch watch',
      pods: 'create delete list watch',
      jobs: 'create delete list watch',
      events: 'create',
      configmaps: 'create',
      'configmaps/trainyard-installation': 'get',
      'configmaps/trainyard-base-models': 'list watch',
      leases: 'create',
      'leases/trainyard-operator': 'get update',
    },
  ],
  ['status-server', { pods: 'get' }],
  ['apiserver', { models: 'create', trainingjobs: 'create', pods: 'list watch' }],
  [
    'uninstall',
    {
      models: 'list patch',
      trainingjobs: 'list patch',
      'deployments/trainyard-operator': 'patch',
      leases: 'create',
      'leases/trainyard-operator': 'get update',
    },
  ],
])('the %s has the rights to the calls that it makes, and no others', async (part, table) => {
  expect(await listRights(part)).toEqual(expand(table))
})

test('in the namespaces of tenants, operator and uninstallation have rights to their resources, and the operator knows them', async () => {
  const tenants = [
    { namespace: 'red', entities: ['red', 'shared'] },
    { namespace, entities: ['own'] },
  ]
  const manifests = await render({ tenants })
  const inRed = manifests.filter(({ metadata }) => metadata.namespace === 'red')
  expect(inRed.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
    'Role trainyard-operator',
    'Role trainyard-uninstall',
    'RoleBinding trainyard-operator',
    'RoleBinding trainyard-uninstall',
  ])
  const [role] = inRed as Role[]
  expect(role?.rules.map(({ resources, verbs }) => `${verbs.join(' ')} ${resources.join(' ')}`)).toEqual([
    'create delete get list patch watch models trainingjobs',
    'patch models/status trainingjobs/status',
    'create events',
  ])
  for (const name of ['trainyard-operator', 'trainyard-uninstall']) {
    const texts = manifests.filter(({ metadata }) => metadata.name === name).map((manifest) => JSON.stringify(manifest))
    expect(texts.join()).toContain(
      JSON.stringify(JSON.stringify(tenants.map(({ entities, namespace: at }) => ({ entities, namespace: at })))),
    )
  }
})

beforeAll(() => createNamespace(stack, namespace))
afterAll(async () => {
  await removeNamespace(stack, namespace)
  await stack.kubectl('delete', 'clusterrole', `trainyard-${namespace}-view`, `trainyard-${namespace}-edit`)
})

test('viewers and editors of the cluster get rights to custom resources where the chart may give them', async () => {
  const isClusterRole = ({ kind }: Manifest) => kind === 'ClusterRole'
  expect((await render({})).filter(isClusterRole)).toEqual([])
  const roles = (await render({ aggregatedRoles: { enabled: true } })).filter(isClusterRole)
  await Promise.all(roles.map((role) => stack.apply(role)))
  for (const role of ['view', 'edit']) {
    await stack.kubectl('create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}`, `-n${namespace}`)
  }
  const ask = (user: string, verb: string) =>
    stack
      .kubectl('auth', 'can-i', verb, 'models.trainyard.dev', `--namespace=${namespace}`, `--as=${user}`)
      .catch((error: { stdout: string }) => error.stdout)
  await eventually(async () => expect(await ask('view', 'list')).toBe('yes\n'))
  await eventually(async () => expect(await ask('edit', 'create')).toBe('yes\n'))
  expect(await ask('view', 'create')).toBe('no\n')
})
