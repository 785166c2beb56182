import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createHelm, parseManifests, type Manifest } from '../support/helm.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { startOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const helm = createHelm(stack)
const none = { replicas: 0 }
const withoutPods = { apiserver: none, operator: none, statusServer: none }

interface Deployment extends Manifest {
  metadata: Manifest['metadata'] & { annotations: Record<string, string> }
  spec: { template: { metadata: { annotations?: Record<string, string> }; spec: PodSpec } }
}
interface PodSpec {
  containers: { env: { name: string }[]; volumeMounts: { name: string }[] }[]
  volumes: { name: string; projected?: { sources: { secret: SecretSource }[] } }[]
}
interface SecretSource {
  name: string
  optional: boolean
  items: { key: string; path: string }[]
}

const render = async (namespace: string, values: object) =>
  parseManifests(await helm.render(namespace, { ...withoutPods, ...values })).filter(
    ({ kind }) => kind === 'Deployment',
  ) as Deployment[]

/** What the operator recorded on each part, and when it told the part's pods to be replaced. */
async function readRecords(namespace: string) {
  const list = JSON.parse(await stack.kubectl('get', 'deployments', '-n', namespace, '-ojson')) as {
    items: Deployment[]
  }
  return list.items.map(({ metadata, spec }) => ({
    digest: metadata.annotations['trainyard.dev/secrets-digest'],
    changedAt: spec.template.metadata.annotations?.['trainyard.dev/secrets-changed-at'],
  }))
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-other-secrets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('the operator replaces the pods of all parts when a Secret of others changes, also one that changed while it was away', async () => {
  const namespace = `others-${randomUUID().slice(0, 8)}`
  const [database, folder] = [await createTestDatabase(), await makeFolder()]
  await createNamespace(stack, namespace)
  onTestFinished(async () => {
    await removeNamespace(stack, namespace)
    await database.drop()
  })
  const deployments = await render(namespace, { secrets: { create: false } })
  const applyAll = () => Promise.all(deployments.map((deployment) => stack.apply(deployment)))
  await applyAll()
  const write = async (part: string, text: string) => {
    await mkdir(path.join(folder, part), { recursive: true })
    await writeFile(path.join(folder, part, 'key'), text)
  }
  await write('control', 'one')
  const start = async () => {
    const env = { TRAINYARD_OTHER_SECRETS: folder }
    const operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace, env })
    onTestFinished(operator.remove)
    return operator
  }
  const first = await start()
  const digest = expect.stringMatching(/^[0-9a-f]{16}(--)?$/)
  const recorded = { digest, changedAt: undefined }
  await eventually(async () => expect(await readRecords(namespace)).toEqual([recorded, recorded, recorded]))
  const before = await readRecords(namespace)

  await write('control', 'two')
  const replaced = { digest, changedAt: expect.any(String) }
  await eventually(async () => expect(await readRecords(namespace)).toEqual([replaced, replaced, replaced]))
  const after = await readRecords(namespace)
  expect(after.map((record) => record.digest)).not.toEqual(before.map((record) => record.digest))
  // What is applied again, as by GitOps, replaces no pods a second time.
  await applyAll()
  expect(await readRecords(namespace)).toEqual(after)

  expect(await first.stop()).toBe(0)
  await write('engine', 'three')
  await Promise.all(deployments.map(({ metadata: { name } }) => settle(namespace, name)))
  const settled = await readRecords(namespace)
  await start()
  const changedOf = (records: typeof settled) => records.map(({ changedAt }) => changedAt)
  // The operator alone has to know Secrets of engines: it replaces engines when it starts.
  await eventually(async () => {
    const [apiserver, operator, statusServer] = changedOf(await readRecords(namespace))
    expect([apiserver, statusServer]).toEqual([changedOf(settled)[0], changedOf(settled)[2]])
    expect(operator).not.toBe(changedOf(settled)[1])
  })
})

/** As if the last change had been long ago. */
function settle(namespace: string, name: string): Promise<string> {
  const annotations = { 'trainyard.dev/secrets-changed-at': '2026-01-01T00:00:00Z' }
  const patch = JSON.stringify({ spec: { template: { metadata: { annotations } } } })
  return stack.kubectl('patch', `deployment/${name}`, '-n', namespace, '--type=merge', '-p', patch)
}

/** The keys of Secrets that the operator is given, as FOLDER/SECRET/KEY. */
async function listFiles(values: object): Promise<string[]> {
  const operator = (await render('default', values)).find(({ metadata }) => metadata.name === 'trainyard-operator')!
  const { volumes, containers } = operator.spec.template.spec
  const sources = volumes.find(({ name }) => name === 'other-secrets')?.projected?.sources ?? []
  const has = sources.length > 0
  expect(containers[0]!.volumeMounts.some(({ name }) => name === 'other-secrets')).toBe(has)
  expect(containers[0]!.env.some(({ name }) => name === 'TRAINYARD_OTHER_SECRETS')).toBe(has)
  return sources.map(({ secret: { name, optional, items } }) => {
    expect(optional).toBe(true)
    expect(items[0]!.path.split('/').slice(1)).toEqual([name, items[0]!.key])
    return items[0]!.path
  })
}

test('the chart gives the operator the Secrets that others change, each key once, and none of its own', async () => {
  expect(await listFiles({})).toEqual([])
  const proxy = { name: 'HTTPS_PROXY', valueFrom: { secretKeyRef: { name: 'proxy', key: 'url' } } }
  const field = { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }
  const s3 = { bucket: 'models', secretName: 'all', engineSecretName: 'reader', trainerSecretName: 'writer' }
  const values = {
    artifacts: { s3 },
    controlPods: { env: [proxy, field] },
    database: { caSecretName: 'authority' },
    statusServer: {
      ...none,
      pods: {
        env: [
          { ...proxy, name: 'https_proxy' },
          { name: 'PLAIN', value: 'x' },
        ],
      },
    },
  }
  const known = ['control/authority/ca.crt', 'control/proxy/url']
  const keys = ['access-key-id', 'secret-access-key']
  const ofPods = [...keys.map((key) => `engine/reader/${key}`), ...keys.map((key) => `trainer/writer/${key}`)]
  expect(await listFiles(values)).toEqual([...known, ...ofPods])
  const ours = (await listFiles({ ...values, secrets: { create: false } })).filter((file) => !known.includes(file))
  expect(ours.slice(0, -4).map((file) => file.replace('control/trainyard-secrets/', ''))).toEqual([
    'database-url',
    'direct-database-url',
    'direct-tracing-database-url',
    'engine-key',
    'previous-engine-key',
    'previous-webhook-key',
    'tracing-database-url',
    'webhook-key',
  ])
})
