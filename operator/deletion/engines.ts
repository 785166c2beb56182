import { engineOrigin } from '../../crds/engine-address.ts'
import { labels } from '../../crds/names.ts'
import type { Context } from '../context.ts'
import type { Pod } from '../../lib/kube/objects.ts'

const requestMs = 5_000
// An engine that answered nothing for so long has no client either: it will be restarted, and forgets all by that.
const patienceSeconds = 600

type Deps = Pick<Context, 'baseModels' | 'pods' | 'engineKey' | 'log'>

/**
 * Unloads adapters from every engine of a base model that has them, Ready or not. An engine that does not answer is
 * asked again later, by throwing, until `ageSeconds` (since the deletion) is beyond all patience.
 */
export async function unloadAdapters(deps: Deps, baseModel: string, ids: string[], ageSeconds: number): Promise<void> {
  if (ids.length === 0) return
  const wanted = new Set(ids)
  for (const pod of listEngines(deps, baseModel)) {
    try {
      await unloadFrom(pod, wanted, deps.engineKey)
    } catch (error) {
      if (ageSeconds < patienceSeconds) throw error
      deps.log.warn({ pod: pod.metadata.name, error }, 'an engine did not unload deleted adapters')
    }
  }
}

function listEngines({ baseModels, pods }: Deps, baseModel: string): Pod[] {
  const names = new Set(
    baseModels
      .list()
      .filter(({ spec }) => spec.names[0] === baseModel)
      .map(({ metadata }) => metadata.name),
  )
  return pods.list().filter(({ metadata, status }) => {
    const isEngine = metadata.labels?.[labels.component] === 'engine'
    return isEngine && status?.podIP !== undefined && names.has(metadata.labels?.[labels.baseModel])
  })
}

async function unloadFrom(pod: Pod, wanted: Set<string>, key: string): Promise<void> {
  for (const id of await listAdapters(pod, key)) {
    if (!wanted.has(id)) continue
    const response = await ask(pod, key, '/v1/unload_lora_adapter', { lora_name: id })
    const body = await response.text()
    // Somebody else was faster.
    if (!response.ok && response.status !== 404) {
      throw new Error(`the engine answered ${response.status}: ${body.slice(0, 300)}`)
    }
  }
}

async function listAdapters(pod: Pod, key: string): Promise<string[]> {
  const response = await ask(pod, key, '/v1/models')
  if (!response.ok) throw new Error(`the engine answered ${response.status}`)
  const { data } = (await response.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

function ask({ status }: Pod, key: string, path: string, body?: object): Promise<Response> {
  return fetch(engineOrigin(status?.podIP ?? '') + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestMs),
  })
}
