import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { createObject, deleteObject, readObject } from '../../../lib/kube/apply.ts'
import { podPath } from '../../../lib/kube/paths.ts'
import type { Pod } from '../../../local/node-agent/objects.ts'
import { eventually } from '../../support/eventually.ts'
import type { FragileNode } from './node-world.ts'

// An agent may die twenty times meanwhile, on a machine that does much else.
const waitMs = 480_000
const image = 'trainyard.dev/local-shell:1'

/** What the processes of a pod have written, a word for each line. */
const readNotes = ({ notes }: FragileNode, name: string) => {
  const file = path.join(notes, name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

async function runPod(node: FragileNode, script: string, spec: object = {}): Promise<Pod> {
  const { kube, namespace, nodeName, notes } = node
  const name = `pod-${randomUUID().slice(0, 8)}`
  const env = [
    { name: 'NOTES', value: path.join(notes, name) },
    { name: 'WORD', value: '/words/word' },
  ]
  const volumes = [
    { name: 'words', downwardAPI: { items: [{ path: 'word', fieldRef: { fieldPath: 'metadata.name' } }] } },
  ]
  const volumeMounts = [{ name: 'words', mountPath: '/words' }]
  const containers = [{ name: 'main', image, command: ['sh', '-c', script], env, volumeMounts }]
  const wanted = { nodeName, terminationGracePeriodSeconds: 2, volumes, containers, ...spec }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: wanted }
  await createObject(kube, podPath(namespace), pod)
  return (await readPod(node, name))!
}

const readPod = ({ kube, namespace }: FragileNode, name: string) => readObject<Pod>(kube, podPath(namespace, name))

const waitForPhase = (node: FragileNode, { metadata: { name = '' } }: Pod, phases: string[]) =>
  eventually(async () => {
    const pod = await readPod(node, name)
    const { phase, containerStatuses } = pod?.status ?? {}
    expect([name, containerStatuses, phases]).toEqual([name, containerStatuses, expect.arrayContaining([phase])])
    return pod!
  }, waitMs)

/** Deletes a pod. Of it, nothing stays: no folder and no address. */
async function remove(node: FragileNode, { metadata: { name = '', uid = '' } }: Pod): Promise<void> {
  const { kube, namespace, state } = node
  await deleteObject(kube, podPath(namespace, name), uid)
  await eventually(async () => {
    expect([name, await readPod(node, name)]).toEqual([name, undefined])
    expect(readdirSync(path.join(state, 'pods'))).not.toContain(uid)
    expect(readFileSync(path.join(state, 'addresses.json'), 'utf8')).not.toContain(uid)
  }, waitMs)
}

/** Runs once and to its end; or, if the agent died just before its start, never. */
async function runOnce(node: FragileNode): Promise<void> {
  const script = 'echo start >> $NOTES; sleep 1; cat $WORD >> $NOTES; echo >> $NOTES'
  const pod = await waitForPhase(node, await runPod(node, script, { restartPolicy: 'Never' }), ['Succeeded', 'Failed'])
  const { name = '' } = pod.metadata
  const reason = pod.status?.containerStatuses?.[0]?.state?.terminated?.reason
  const wanted = pod.status?.phase === 'Succeeded' ? ['Completed', ['start', name]] : ['ContainerStatusUnknown', []]
  expect([name, reason, readNotes(node, name)]).toEqual([name, ...wanted])
  await remove(node, pod)
}

/** Fails once and succeeds then. Two processes of it never run at the same time. */
async function runUntilDone(node: FragileNode): Promise<void> {
  const script = `mkdir $NOTES.lock || { echo twice >> $NOTES; exit 0; }
    sleep 0.5; rmdir $NOTES.lock
    [ -e $NOTES.failed ] || { touch $NOTES.failed; exit 3; }
    echo done >> $NOTES`
  const pod = await runPod(node, script, { restartPolicy: 'OnFailure' })
  await waitForPhase(node, pod, ['Succeeded'])
  expect(readNotes(node, pod.metadata.name!)).toEqual(['done'])
  await remove(node, pod)
}

/** Runs until it is deleted, is told once, and is gone then. */
async function deleteRunning(node: FragileNode): Promise<void> {
  // Kubernetes makes one dollar sign of two.
  const script = 'trap "echo told >> $NOTES; exit 0" TERM; echo $$$$ >> $NOTES; while :; do sleep 0.1; done'
  const pod = await runPod(node, script)
  await waitForPhase(node, pod, ['Running'])
  const { name = '' } = pod.metadata
  const [pid] = await eventually(() => {
    const notes = readNotes(node, name)
    expect(notes).toHaveLength(1)
    return notes
  }, waitMs)
  await remove(node, pod)
  expect([name, readNotes(node, name)]).toEqual([name, [pid, 'told']])
  expect(pid).toMatch(/^\d+$/)
  expect(existsSync(`/proc/${pid}`)).toBe(false)
}

/** What clusters do with a node. */
export const nodeStories = { runOnce, runUntilDone, deleteRunning }
