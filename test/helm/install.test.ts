import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createEmptyDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { chart, createHelm } from '../support/helm.ts'
import { startOperator } from '../support/operator-process.ts'
import { startOwnCluster, type OwnCluster } from '../support/own-cluster.ts'

let cluster: OwnCluster
let helm: ReturnType<typeof createHelm>

beforeAll(async () => {
  cluster = await startOwnCluster()
  helm = createHelm(cluster)
})

afterAll(() => cluster.remove())

const quiet = { replicas: 0 }
const small = { engine: { replicas: 0 }, trainer: { warm: { min: 0 } } }
const values = () => ({
  secrets: { databaseUrl: cluster.databaseUrl },
  artifacts: { hostPath: { path: '/tmp' } },
  listenOnPodIP: true,
  apiserver: quiet,
  statusServer: quiet,
  baseModels: { 'tiny-chat': small },
})

const listDefinitions = async () =>
  (await cluster.kubectl('get', 'crd', '-l', 'app.kubernetes.io/name=trainyard', '-oname')).trim().split('\n')
const definitions = ['basemodels', 'models', 'trainingjobs'].map(
  (plural) => `customresourcedefinition.apiextensions.k8s.io/${plural}.trainyard.dev`,
)

test('one installation on an empty cluster brings the definitions and the base models', async () => {
  await helm.upgrade('first', values())
  expect(await listDefinitions()).toEqual(definitions)
  await eventually(async () => {
    expect(await cluster.kubectl('get', 'basemodels', '-n', 'first', '-oname')).toBe(
      'basemodel.trainyard.dev/tiny-chat\n',
    )
  })
})

test('a second release needs crds.enabled=false, and works beside the first', async () => {
  await expect(helm.upgrade('second', values())).rejects.toThrow(
    'belongs to the release trainyard in the namespace first. Set crds.enabled=false here',
  )
  await helm.upgrade('second', { ...values(), operator: quiet, crds: { enabled: false } })
})

test('an upgrade changes the definitions', async () => {
  const hasField = async () =>
    (await cluster.kubectl('get', 'crd', 'models.trainyard.dev', '-oyaml')).includes('keepLoaded:')
  const earlier = createHelm(cluster, await copyEarlierChart())
  await earlier.upgrade('first', values())
  expect(await hasField()).toBe(false)
  await helm.upgrade('first', values())
  expect(await hasField()).toBe(true)
})

test('an operator with older definitions says so, writes nothing, and works when they are upgraded', async () => {
  const earlier = createHelm(cluster, await copyEarlierChart())
  await earlier.upgrade('first', { ...values(), operator: quiet })
  const { databaseUrl, pool, drop } = await createEmptyDatabase(cluster.databaseUrl)
  onTestFinished(drop)
  await cluster.kubectl('create', 'namespace', 'third')
  const operator = await startOperator(cluster, { databaseUrl, namespace: 'third' })
  onTestFinished(operator.remove)
  const read = async () => {
    const response = await fetch(`${operator.url}/ready`)
    return { status: response.status, body: await response.json() }
  }
  const older =
    'the CRDs are older than this operator: they lack Model.spec.keepLoaded. Upgrade the release that installed them first'
  await eventually(async () => {
    expect(await read()).toEqual({ status: 503, body: { status: 'ok', leading: false, not_ready: older } })
  })
  expect((await pool.query(`SELECT FROM pg_namespace WHERE nspname = 'training'`)).rowCount).toBe(0)
  expect(await cluster.kubectl('get', 'leases,configmaps', '-n', 'third', '-oname')).toBe(
    'configmap/kube-root-ca.crt\n',
  )

  await helm.upgrade('first', values())
  await eventually(async () => {
    expect(await read()).toEqual({ status: 200, body: { status: 'ok', leading: true } })
  })
})

/** The chart of a time when keepLoaded of Models had another name. */
async function copyEarlierChart(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'chart-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(chart, folder, { recursive: true })
  const file = path.join(folder, 'templates', 'crds', 'models.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace('keepLoaded:', 'loaded:'))
  return folder
}

test('an uninstallation keeps the definitions and takes the base models, and a reinstallation finds both', async () => {
  await helm.uninstall('first')
  expect(await listDefinitions()).toEqual(definitions)
  await eventually(async () => {
    expect(await cluster.kubectl('get', 'basemodels', '-n', 'first', '-oname')).toBe('')
  })
  await helm.upgrade('first', values())
  await eventually(async () => {
    expect(await cluster.kubectl('get', 'basemodels', '-n', 'first', '-oname')).toBe(
      'basemodel.trainyard.dev/tiny-chat\n',
    )
  })
})

test('an upgrade on a cluster that has the API of a network plugin closes ports, and says so', async () => {
  const listPolicies = () => cluster.kubectl('get', 'networkpolicies', '-n', 'first', '-oname')
  expect(await helm.upgrade('first', values())).toContain('There are no NetworkPolicies')
  expect(await listPolicies()).toBe('')

  await cluster.apply(pluginApi)
  await cluster.kubectl('wait', '--for=condition=Established', 'crd/ciliumnodes.cilium.io', '--timeout=1m')
  const asked = 'networkPolicies.enabled=false closes none. networkPolicies.enabled=true also closes those from them'
  const closed =
    'NetworkPolicies close connections to its pods, except those that it needs: the cluster has cilium.io/v2.'
  const notes = await helm.upgrade('first', values())
  expect(notes).toContain(`${closed} ${asked}.\n`)
  expect(await listPolicies()).toContain('networkpolicy.networking.k8s.io/trainyard-engines\n')
  const bucket = {
    artifacts: { s3: { bucket: 'models', endpoint: 'http://minio:9000' } },
  }
  const { artifacts: _, ...others } = values()
  expect(await helm.upgrade('first', { ...others, ...bucket })).toContain(
    `${asked}, and needs networkPolicies.store.\n`,
  )

  await helm.upgrade('first', {
    ...values(),
    networkPolicies: { enabled: false },
  })
  expect(await listPolicies()).toBe('')
})

/** An API that Cilium brings. */
const pluginApi = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ciliumnodes.cilium.io' },
  spec: {
    group: 'cilium.io',
    scope: 'Cluster',
    names: { kind: 'CiliumNode', plural: 'ciliumnodes' },
    versions: [
      {
        name: 'v2',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
}
