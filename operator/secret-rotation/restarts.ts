import { setTimeout as delay } from 'node:timers/promises'
import { annotations } from '../../crds/names.ts'
import { mergePatch } from '../../lib/kube/apply.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import type { Deployment } from '../../lib/kube/objects.ts'
import { deploymentPath } from '../../lib/kube/paths.ts'
import type { Logger } from '../../lib/log.ts'
import { repeat } from '../../lib/repeat.ts'
import { planRestart } from './plan-restart.ts'
import { readSecretDigests, type SecretDigests } from './read-digests.ts'

const pauseMs = 10_000
// In this time, all files of a volume have been written.
const writingMs = 1_000
// The operator restarts itself last, because that ends this process.
const components = ['status-server', 'apiserver', 'operator']
const componentLabel = 'app.kubernetes.io/component'
const selector = `app.kubernetes.io/name=trainyard,${componentLabel} in (${components.join(',')})`

export interface RestartDeps {
  client: KubeClient
  namespace: string
  log: Logger
  /** Reads the digests of now. */
  readDigests: () => SecretDigests
  atStart: SecretDigests
}

/** What a process needs to know the digests of a folder, now and later. */
export function openSecretRotation(folder: string, key: string): Pick<RestartDeps, 'readDigests' | 'atStart'> {
  const readDigests = () => readSecretDigests(folder, key)
  return { readDigests, atStart: readDigests() }
}

/**
 * Replaces the pods of the control parts when a Secret of others has changed that they read at their start: as a rolling
 * upgrade does, so that no pod ends before a new one is ready. Returns a function that ends this.
 */
export function startRestarts(deps: RestartDeps): () => Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  const work = async () => {
    const before = deps.readDigests()
    await delay(writingMs, undefined, { signal })
    const digests = deps.readDigests()
    if (JSON.stringify(digests) === JSON.stringify(before)) await restartChanged(deps, digests)
  }
  const onError = (error: unknown) => {
    if (!signal.aborted) deps.log.warn({ error }, 'changed Secrets not applied')
  }
  const running = repeat(work, { pauseMs, signal, onError })
  return () => (stop.abort(), running)
}

async function restartChanged(deps: RestartDeps, digests: SecretDigests): Promise<void> {
  const { client, namespace } = deps
  const path = deploymentPath(namespace)
  const { items } = await client.request<{ items: Deployment[] }>({ path, query: { labelSelector: selector } })
  const orderOf = (deployment: Deployment) => components.indexOf(componentOf(deployment))
  for (const deployment of items.toSorted((a, b) => orderOf(a) - orderOf(b))) await restart(deps, deployment, digests)
}

async function restart({ client, namespace, atStart, log }: RestartDeps, seen: Deployment, digests: SecretDigests) {
  const component = componentOf(seen)
  const digest = digestOf(component, digests)
  const now = new Date()
  const action = planRestart({
    recorded: seen.metadata.annotations?.[annotations.secretsDigest],
    restartedAt: seen.spec?.template?.metadata?.annotations?.[annotations.secretsChangedAt],
    digest,
    digestAtStart: digestOf(component, atStart),
    now,
  })
  if (action === undefined) return
  const changed = { template: { metadata: { annotations: { [annotations.secretsChangedAt]: now.toISOString() } } } }
  await mergePatch(client, deploymentPath(namespace, seen.metadata.name), {
    metadata: { annotations: { [annotations.secretsDigest]: digest } },
    ...(action === 'restart' && { spec: changed }),
  })
  if (action === 'restart') log.info({ component }, 'pods are replaced, because a Secret has changed')
}

function componentOf({ metadata }: Deployment): string {
  return metadata.labels?.[componentLabel] ?? ''
}

/** The operator tells engines and trainers of their Secrets when it starts. */
function digestOf(component: string, { control, engine, trainer }: SecretDigests): string {
  return component === 'operator' ? [control, engine, trainer].join('-') : control
}
