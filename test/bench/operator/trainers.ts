import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { KubeClient } from '../../../lib/kube/client.ts'
import type { Pod } from '../../../lib/kube/objects.ts'
import { podPath } from '../../../lib/kube/paths.ts'
import { eventually } from '../../support/eventually.ts'
import type { TrainerAccess, TrainersMessage } from './played-trainers.ts'

interface Cluster {
  client: KubeClient
  namespace: string
  statusUrl: string
  baseModel: string
  /** How many trainer pods there will be. */
  count: number
}

const account = 'trainyard-trainer'

/** The process that plays the trainers in the pods of a base model. */
export class Trainers {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Starts it when all pods are Ready. The trainers wait. */
  static async start(cluster: Cluster): Promise<Trainers> {
    const pods = await eventually(() => listReadyPods(cluster), 120_000)
    const trainers = new Trainers(fork(path.join(import.meta.dirname, 'played-trainers.ts')))
    trainers.#send({ access: await Promise.all(pods.map((pod) => openAccess(cluster, pod))) })
    return trainers
  }

  /** Claims this many jobs and trains none of them. */
  hold(count: number): void {
    this.#send({ change: { toHold: count, isReleased: false, isTraining: false } })
  }

  /** Trains all jobs, those that are held if they are released. */
  train({ isReleased }: { isReleased: boolean }): void {
    this.#send({ change: { toHold: 0, isReleased, isTraining: true } })
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
  }

  #send(message: TrainersMessage): void {
    this.#child.send(message)
  }
}

async function listReadyPods({ client, namespace, count }: Cluster): Promise<Pod[]> {
  const query = { labelSelector: 'trainyard.dev/component=trainer' }
  const { items } = await client.request<{ items: Pod[] }>({ path: podPath(namespace), query })
  const ready = items.filter(({ status }) => status?.phase === 'Running')
  if (ready.length < count) throw new Error(`${ready.length} of ${count} trainer pods run`)
  return ready
}

/** Gets a token as the kubelet would for the pod. */
async function openAccess(cluster: Cluster, { metadata }: Pod): Promise<TrainerAccess> {
  const { client, namespace, statusUrl: url, baseModel } = cluster
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid }
  const { status } = await client.request<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { spec: { audiences: ['trainyard-status'], expirationSeconds: 7200, boundObjectRef } },
  })
  return { url, token: status.token, baseModel }
}
