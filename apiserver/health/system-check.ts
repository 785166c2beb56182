import { labels } from '../../crds/names.ts'
import { readDatabaseVersion } from '../../db/server-version.ts'
import { buildOrigin } from '../../lib/origin.ts'
import type { Pool } from '../../db/pool.ts'
import type { Kube } from '../kube.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { checkEngines, type EngineDeps } from './engines.ts'
import { checkPart, type PartReport } from './part.ts'

/** What the system check needs. */
export interface SystemDeps extends EngineDeps {
  artifacts: ArtifactStore
  pool: Pool
}

const timeoutMs = 3_000

// An operator that cannot work answers, but is not ready.
const operator = { component: 'operator', port: 8081, path: '/ready' }
const statusServer = { component: 'status-server', port: 8082, path: '/health' }

/** Whether everything works, and each part by itself. */
export interface SystemReport {
  ok: boolean
  checkedAt: Date
  parts: Record<string, PartReport>
}

/** Checks all parts concurrently. Nothing comes from a cache. */
export async function checkSystem(deps: SystemDeps): Promise<SystemReport> {
  const checkedAt = new Date()
  const signal = AbortSignal.timeout(timeoutMs)
  const checks: Record<string, () => Promise<PartReport>> = {
    postgres: () => checkPostgres(deps.pool),
    kubernetes: () => checkKubernetes(deps.kube),
    operator: () => checkControlPods(deps.kube, operator, signal),
    status_server: () => checkControlPods(deps.kube, statusServer, signal),
    artifact_store: () => checkArtifacts(deps.artifacts),
    engines: () => checkEngines(deps, signal),
    trainers: () => checkTrainers(deps.kube),
  }
  const reports = await Promise.all(
    Object.entries(checks).map(async ([part, check]) => [part, await checkPart(check, timeoutMs)] as const),
  )
  return { ok: reports.every(([, report]) => report.ok), checkedAt, parts: Object.fromEntries(reports) }
}

async function checkPostgres(pool: Pool): Promise<PartReport> {
  return { ok: true, detail: 'answers', forAdmins: { version: await readDatabaseVersion(pool) } }
}

async function checkKubernetes(kube: Kube): Promise<PartReport> {
  return { ok: true, detail: 'answers', forAdmins: { version: await kube.readVersion() } }
}

async function checkArtifacts(artifacts: ArtifactStore): Promise<PartReport> {
  await artifacts.probe()
  return { ok: true, detail: 'takes writes' }
}

async function checkTrainers(kube: Kube): Promise<PartReport> {
  const pods = await kube.listPods(`${labels.component}=trainer`)
  const ready = pods.filter((pod) => pod.ready).length
  return { ok: ready > 0, detail: `${ready} of ${pods.length} ready`, ready }
}

/** A part of the control plane works if one of its pods is ready. */
async function checkControlPods(
  kube: Kube,
  { component, port, path }: typeof operator,
  signal: AbortSignal,
): Promise<PartReport> {
  const pods = await kube.listPods(`app.kubernetes.io/name=trainyard,app.kubernetes.io/component=${component}`)
  const answers = await Promise.all(
    pods.map(async ({ ip }) => {
      const response = await fetch(`${buildOrigin('http', ip ?? '', port)}${path}`, { signal }).catch(() => undefined)
      return response?.ok === true
    }),
  )
  const working = answers.filter(Boolean).length
  return { ok: working > 0, detail: pods.length === 0 ? 'no pod' : `${working} of ${pods.length} pods are ready` }
}
