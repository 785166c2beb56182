import { loadKubeAccess } from '../../../lib/kube/access.ts'
import { KubeClient } from '../../../lib/kube/client.ts'
import { findFreePort } from '../../support/free-port.ts'
import type { StackHandle } from '../../support/global-setup.ts'
import { startOperator } from '../../support/operator-process.ts'
import { createRest, type Rest } from '../../support/rest.ts'
import { applyWithKubectl, runKubectl } from '../../support/run-kubectl.ts'
import { startStatusServer } from '../../support/status-server.ts'
import { baseModel, withBenchServer } from '../bench-server.ts'
import { readPostgresPid } from '../processes.ts'
import { followEnds, type EndedJobs } from './ended-jobs.ts'
import { playedNodes, playNodes } from './kwok.ts'
import { Trainers } from './trainers.ts'
import { describeBaseModel } from '../../support/resources.ts'

/** The real control plane in a namespace and on a database of its own, with played nodes, pods and trainers. */
export interface Plane {
  rest: Rest
  url: string
  apiKey: string
  client: KubeClient
  namespace: string
  trainers: Trainers
  ended: EndedJobs
  /** Whether the operator has ended. One that gets no time loses its Lease, and ends. */
  isLost: () => boolean
  /** The port of the operator's metrics. */
  metricsPort: number
  /** Reads a text of kube-apiserver. */
  readRaw: (path: string) => Promise<string>
  /** Postgres is its postmaster, whose children are the others. */
  pids: Record<'operator' | 'postgres', number>
}

const trainerPods = 20

/** Runs `work` with a control plane on a running stack. */
export async function withPlane<T>(stack: StackHandle, work: (plane: Plane) => Promise<T>): Promise<T> {
  const kubectl = (...args: string[]) => runKubectl(stack, args)
  const cluster = { ...stack, kubectl, apply: (object: object) => applyWithKubectl(stack, object) }
  const stopNodes = await playNodes(cluster)
  const client = new KubeClient(loadKubeAccess({ KUBECONFIG: stack.kubeconfig }), {
    userAgent: 'bench',
    timeoutMs: 60_000,
  })
  try {
    return await withBenchServer(stack, async ({ url, apiKey, databaseUrl, namespace }) => {
      const status = await startStatusServer(cluster, databaseUrl, { namespace })
      const metricsPort = await findFreePort()
      const env = { TRAINYARD_METRICS_PORT: String(metricsPort) }
      const operator = await startOperator(stack, { databaseUrl, namespace, env })
      let trainers: Trainers | undefined
      let isLost = false
      const { ended, stop } = followEnds(client, namespace)
      void operator.exited.then(() => (isLost = true))
      try {
        const tolerations = Object.keys(playedNodes).map((key) => ({ key, operator: 'Exists' as const }))
        const scheduling = { nodeSelector: playedNodes, tolerations }
        const spec = { names: [baseModel], trainer: { warm: { min: trainerPods } }, scheduling }
        await cluster.apply(describeBaseModel(namespace, 'base', spec))
        trainers = await Trainers.start({ client, namespace, statusUrl: status.url, baseModel, count: trainerPods })
        return await work({
          ended,
          rest: createRest({ url, apiKey, baseModel }),
          url,
          apiKey,
          client,
          namespace,
          trainers,
          isLost: () => isLost,
          metricsPort,
          readRaw: (path) => kubectl('get', '--raw', path),
          pids: { operator: operator.pid, postgres: await readPostgresPid(stack) },
        })
      } finally {
        await stop()
        await trainers?.stop()
        await operator.remove()
        await status.remove()
      }
    })
  } finally {
    client.close()
    await stopNodes()
  }
}
