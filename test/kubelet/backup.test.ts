import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runChild } from '../../local/install/run-child.ts'
import { eventually } from '../support/eventually.ts'
import { restrictedNamespace, startNode, type KubeNode } from '../support/kubelet/node.ts'
import { readParts } from '../support/kubelet/parts.ts'
import { createRelease, namespace } from '../support/kubelet/release.ts'
import { createRest, type Rest } from '../support/rest.ts'

const baseModel = 'trainyard/tiny-chat'
const withoutPods = { 'baseModels.tiny-chat.engine.replicas': 0, 'baseModels.tiny-chat.trainer.warm.min': 0 }
// Postgres alone: the database and the store stay empty.
const withoutParts = { 'apiserver.replicas': 0, 'operator.replicas': 0, 'statusServer.replicas': 0 }
const backupClaim = 'backups'
const longMs = 900_000

const group = {
  trajectories: [1, 0].map((reward) => ({
    messages_and_choices: [
      { role: 'user', content: 'Name a colour.' },
      { role: 'assistant', content: reward === 1 ? 'blue' : 'nothing' },
    ],
    reward,
  })),
}

/** A node with the namespace of the release, and a claim for backups. */
async function openNode(): Promise<{ node: KubeNode; release: ReturnType<typeof createRelease> }> {
  const node = await startNode(await readParts())
  onTestFinished(node.remove)
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  await node.apply(restrictedNamespace(namespace))
  const metadata = { name: backupClaim, namespace }
  await node.apply({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec })
  await node.kubectl('wait', '-n', namespace, '--for=jsonpath={.status.phase}=Bound', `pvc/${backupClaim}`)
  return { node, release: createRelease(node) }
}

/** The folder of the claim for backups on this machine. */
async function findFolder(node: KubeNode): Promise<string> {
  const volume = await node.kubectl('get', '-n', namespace, `pvc/${backupClaim}`, '-ojsonpath={.spec.volumeName}')
  return node.kubectl('get', `pv/${volume}`, '-ojsonpath={.spec.local.path}')
}

interface PodSpec {
  containers: Record<string, unknown>[]
  volumes: object[]
}

/** Runs a command of backups in a pod that has the operator's settings, and the claim for backups. Returns its log. */
async function runBackupCommand(node: KubeNode, command: 'backup' | 'restore'): Promise<string> {
  const deployment = await node.kubectl('get', '-n', namespace, 'deployment/trainyard-operator', '-ojson')
  const { spec } = (JSON.parse(deployment) as { spec: { template: { spec: PodSpec } } }).spec.template
  const { image, env, volumeMounts, securityContext, resources } = spec.containers[0]!
  const container = {
    name: 'backup',
    image,
    imagePullPolicy: 'IfNotPresent',
    env,
    securityContext,
    resources,
    command: ['node', 'operator/backup/main.ts', command, '/backups/one'],
    volumeMounts: [...(volumeMounts as object[]), { name: 'backups', mountPath: '/backups' }],
  }
  const volumes = [...spec.volumes, { name: 'backups', persistentVolumeClaim: { claimName: backupClaim } }]
  const pod = { ...spec, restartPolicy: 'Never', containers: [container], volumes }
  await node.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: command, namespace }, spec: pod })
  const readLog = () => node.kubectl('logs', '-n', namespace, `pod/${command}`)
  const phase = '-ojsonpath={.status.phase}'
  await eventually(async () => {
    expect(await node.kubectl('get', '-n', namespace, `pod/${command}`, phase)).toMatch(/Succeeded|Failed/)
  }, longMs)
  expect(await node.kubectl('get', '-n', namespace, `pod/${command}`, phase), await readLog()).toBe('Succeeded')
  return readLog()
}

const listIds = async (rest: Rest, kind: string) =>
  (await rest.listAll<{ id: string }>(`/v1/preview/${kind}`)).map(({ id }) => id)

test('a backup of one node is restored into a second, empty one, where an unfinished job trains to its end', async () => {
  const first = await openNode()
  await first.release.upgrade(withoutPods)
  const key = await first.release.administrate('key', 'team')
  const open = async (release: typeof first.release) =>
    createRest({ url: await release.findUrl(), apiKey: key, baseModel })
  const before = await open(first.release)
  const model = await eventually(() => before.createModel())
  const job = await before.startJob(model.id, [group])
  const jobs = await listIds(before, 'training-jobs')
  const folder = await findFolder(first.node)
  expect(await runBackupCommand(first.node, 'backup')).toMatch(/backup done: [1-9]\d* objects/)

  // Two nodes do not fit into a small machine.
  const saved = path.join(first.node.root, '..', `trainyard-backup-${process.pid}`)
  onTestFinished(() => rm(saved, { recursive: true, force: true }))
  expect((await runChild('cp', ['-a', folder, saved])).code).toBe(0)
  await first.node.remove()

  const second = await openNode()
  const copy = ['-a', path.join(saved, 'one'), await findFolder(second.node)]
  expect((await runChild('cp', copy)).code).toBe(0)
  const readKey = (name: string) => readFile(path.join(saved, 'one', 'keys', name), 'utf8')
  const keys = { 'secrets.engineKey': await readKey('engine-key'), 'secrets.webhookKey': await readKey('webhook-key') }
  await second.release.upgrade({ ...withoutParts, ...keys })
  expect(await runBackupCommand(second.node, 'restore')).toMatch(/restore done: [1-9]\d* objects/)
  await second.release.upgrade({})
  await second.release.waitForBaseModel()
  const after = await open(second.release)
  expect(await eventually(() => listIds(after, 'training-jobs'))).toEqual(jobs)
  const events = await eventually(() => after.waitForEnd(job), longMs)
  expect(events.at(-1)?.type).toBe('training_ended')
  expect((await after.listCheckpoints(model.id)).map(({ step }) => step)).toEqual([1])
  await eventually(() => after.sample(model.address, 'Name a colour.', { max_completion_tokens: 8 }), longMs)
})
