import { engineOrigin } from '../../crds/engine-address.ts'
import { labels } from '../../crds/names.ts'
import { fetchWithKeys } from '../../lib/http/fetch-with-keys.ts'
import type { Logger } from '../../lib/log.ts'
import type { Pod, Kube } from '../kube.ts'
import type { PartReport } from './part.ts'

/** What requests to engines need. */
export interface EngineDeps {
  /** The keys that engines may ask for, the current one first. */
  engineKeys: readonly string[]
  kube: Kube
  log: Logger
}

/**
 * Reports each engine pod: whether it is ready, and how many adapters it has loaded. The names of adapters are not
 * shown, because they belong to their owners.
 */
export async function checkEngines(deps: EngineDeps, signal: AbortSignal): Promise<PartReport> {
  const pods = await deps.kube.listPods(`${labels.component}=engine`)
  const asked = await Promise.all(pods.map((pod) => readEngine(deps, pod, signal)))
  const engines = asked.map(({ engine }) => engine)
  const working = engines.filter((engine) => engine.ready).length
  const detail = engines.length === 0 ? 'no engine pod' : `${working} of ${engines.length} ready`
  const versions = [...new Set(asked.flatMap(({ version }) => version ?? []))]
  return { ok: working > 0 && working === engines.length, detail, engines, forAdmins: { versions } }
}

async function readEngine(deps: Pick<EngineDeps, 'engineKeys' | 'log'>, pod: Pod, signal: AbortSignal) {
  const base_model = pod.labels[labels.baseModel] ?? null
  try {
    const [{ version }, { data }] = await Promise.all([
      readJson<{ version: string }>(deps.engineKeys, pod, '/version', signal),
      readJson<{ data: EngineModel[] }>(deps.engineKeys, pod, '/v1/models', signal),
    ])
    const adapters = data.filter((model) => model.parent).length
    return { engine: { base_model, ready: pod.ready, adapters }, version }
  } catch (error) {
    deps.log.debug({ error, pod: pod.name }, 'engine does not respond')
    return { engine: { base_model, ready: false, adapters: 0 } }
  }
}

/** An entry of vLLM's /v1/models: an adapter has its base model as `parent`. */
interface EngineModel {
  parent?: string | null
}

async function readJson<T>(keys: readonly string[], pod: Pod, path: string, signal: AbortSignal): Promise<T> {
  const response = await fetchWithKeys(engineOrigin(pod.ip ?? '') + path, keys, { signal })
  if (!response.ok) throw new Error(`engine answered ${response.status} to ${path}`)
  return (await response.json()) as T
}
