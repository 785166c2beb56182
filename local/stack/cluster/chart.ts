import path from 'node:path'
import { childEnvironment, type LocalConfig } from '../../config.ts'
import type { ControlPlane } from '../../install/control-plane.ts'
import { runChild } from '../../install/run-child.ts'
import { UserError } from '../../user-error.ts'
import { replaceFile } from '../json-file.ts'
import { applyManifests, type Kubectl } from './kubectl.ts'
import { layoutOf, type Layout } from '../layout.ts'
import { databaseUrl } from '../programs/postgres.ts'
import type { StackSettings } from '../settings.ts'

export const namespace = 'trainyard'

export interface ChartRequest {
  repository: string
  stateFolder: string
  controlPlane: ControlPlane
  settings: StackSettings
  withPods: boolean
  operators: number
  outbound: LocalConfig['outbound']
  accelerator: LocalConfig['accelerator']
  signal: AbortSignal
}

/** Renders the chart with this stack's values and applies it, as `helm install` would. */
export async function applyChart(request: ChartRequest): Promise<void> {
  const layout = layoutOf(request.stateFolder)
  // JSON is valid YAML.
  replaceFile(layout.values, `${JSON.stringify(chartValues(layout, request), null, 2)}\n`)
  const kubectl: Kubectl = { kubectl: request.controlPlane.kubectl, ...request }
  await applyManifests(kubectl, JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }))
  await applyManifests(kubectl, await renderChart(request, layout))
}

async function renderChart({ repository, controlPlane, signal }: ChartRequest, layout: Layout): Promise<string> {
  const chart = path.join(repository, 'helm', 'trainyard')
  const args = ['template', 'trainyard', chart, '--no-hooks', '--namespace', namespace, '--values', layout.values]
  // The environment must not contain Helm settings for another cluster.
  const env = childEnvironment({ KUBECONFIG: layout.kubeconfig, HELM_NAMESPACE: namespace })
  const result = await runChild(controlPlane.helm, args, { signal, env })
  if (result.code === 0) return result.stdout
  throw new UserError(`${result.tail}\nThe chart could not be rendered; see the output of Helm above.`)
}

// There is one pod and no load balancer: who ends the stack does not wait for long.
const quickEnd = { preStopSeconds: 0, drainSeconds: 8 }
// Without pods, no engine comes that a request could wait for.
const noEngines = { holdSeconds: 1 }

/** The chart's values for one machine: a folder for artifacts, loopback addresses, and one public port. */
export function chartValues(
  layout: Layout,
  { settings, ...asked }: Pick<ChartRequest, 'settings' | 'withPods' | 'operators' | 'outbound' | 'accelerator'>,
): object {
  const { engineKey, webhookKey } = settings.secrets
  return {
    artifacts: { hostPath: { path: layout.artifacts } },
    // Pods are processes of the user and keep what they download in the user's caches.
    cache: null,
    listenOnPodIP: true,
    outbound: asked.outbound,
    secrets: { databaseUrl: databaseUrl(settings), engineKey, webhookKey },
    apiserver: {
      service: { type: 'NodePort', nodePort: settings.ports.public },
      ...quickEnd,
      ...(asked.withPods ? {} : noEngines),
    },
    operator: { replicas: asked.operators },
    statusServer: { preStopSeconds: 0 },
    baseModels: { 'tiny-chat': tinyChat(asked) },
  }
}

/** On a GPU, the trainer computes in bfloat16, as the engine does, and leaves most of the memory to the engine. */
function tinyChat({ withPods, accelerator }: Pick<ChartRequest, 'withPods' | 'accelerator'>): object {
  if (!withPods) return { engine: { replicas: 0 }, trainer: { warm: { min: 0 } } }
  return accelerator === 'cuda' ? { engine: { args: ['--dtype', 'bfloat16', '--gpu-memory-utilization', '0.3'] } } : {}
}
