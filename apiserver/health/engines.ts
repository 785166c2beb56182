import { labels } from '../../crds/names.ts'
import type { Deps } from '../deps.ts'
import type { Pod } from '../kube.ts'
import type { PartReport } from './part.ts'

const enginePort = 8000

/** Every engine pod: ready, its version, and the models that it says it has loaded. */
export async function checkEngines(deps: Deps, signal: AbortSignal): Promise<PartReport> {
  const pods = await deps.kube.listPods(`${labels.component}=engine`)
  const engines = await Promise.all(pods.map((pod) => readEngine(deps, pod, signal)))
  const working = engines.filter((engine) => engine.ready).length
  const detail = engines.length === 0 ? 'no engine pod' : `${working} of ${engines.length} ready`
  return { ok: working > 0 && working === engines.length, detail, engines }
}

async function readEngine(deps: Deps, pod: Pod, signal: AbortSignal) {
  const facts = { pod: pod.name, base_model: pod.labels[labels.baseModel] ?? null }
  try {
    const [{ version }, { data }] = await Promise.all([
      readJson<{ version: string }>(deps, pod, '/version', signal),
      readJson<{ data: EngineModel[] }>(deps, pod, '/v1/models', signal),
    ])
    const adapters = data.filter((model) => model.parent).map((model) => model.id)
    return { ...facts, ready: pod.ready, version, models: data.map((model) => model.id), adapters }
  } catch (error) {
    deps.log.debug({ error, pod: pod.name }, 'engine does not answer')
    return { ...facts, ready: false, version: null, models: [], adapters: [] }
  }
}

/** An entry of vLLM's /v1/models: an adapter has its base model as `parent`. */
interface EngineModel {
  id: string
  parent?: string | null
}

async function readJson<T>(deps: Deps, pod: Pod, path: string, signal: AbortSignal): Promise<T> {
  const headers = { authorization: `Bearer ${deps.config.TRAINYARD_ENGINE_KEY}` }
  const response = await fetch(`http://${pod.ip}:${enginePort}${path}`, { headers, signal })
  if (!response.ok) throw new Error(`engine answered ${response.status} to ${path}`)
  return (await response.json()) as T
}
