import { labels } from '../../crds/names.ts'
import { readDatabaseVersion } from '../../db/server-version.ts'
import { buildOrigin } from '../../lib/origin.ts'
import type { Deps } from '../deps.ts'
import { checkEngines } from './engines.ts'
import { checkPart, type PartReport } from './part.ts'

const timeoutMs = 3_000

const operatorPort = 8081
const statusServerPort = 8082

/** Whether everything works, and each part by itself. */
export interface SystemReport {
  ok: boolean
  checkedAt: Date
  parts: Record<string, PartReport>
}

/** Asks every part at the same time; nothing is taken from memory. */
export async function checkSystem(deps: Deps): Promise<SystemReport> {
  const checkedAt = new Date()
  const signal = AbortSignal.timeout(timeoutMs)
  const checks: Record<string, () => Promise<PartReport>> = {
    postgres: () => checkPostgres(deps),
    kubernetes: () => checkKubernetes(deps),
    operator: () => checkControlPods(deps, { component: 'operator', port: operatorPort, signal }),
    status_server: () => checkControlPods(deps, { component: 'status-server', port: statusServerPort, signal }),
    artifact_store: () => checkArtifacts(deps),
    engines: () => checkEngines(deps, signal),
    trainers: () => checkTrainers(deps),
  }
  const reports = await Promise.all(
    Object.entries(checks).map(async ([part, check]) => [part, await checkPart(check, timeoutMs)] as const),
  )
  return { ok: reports.every(([, report]) => report.ok), checkedAt, parts: Object.fromEntries(reports) }
}

async function checkPostgres({ pool }: Deps): Promise<PartReport> {
  return { ok: true, detail: 'answers', forAdmins: { version: await readDatabaseVersion(pool) } }
}

async function checkKubernetes({ kube }: Deps): Promise<PartReport> {
  return { ok: true, detail: 'answers', forAdmins: { version: await kube.readVersion() } }
}

async function checkArtifacts({ artifacts }: Deps): Promise<PartReport> {
  await artifacts.probe()
  return { ok: true, detail: 'takes writes' }
}

async function checkTrainers({ kube }: Deps): Promise<PartReport> {
  const pods = await kube.listPods(`${labels.component}=trainer`)
  const ready = pods.filter((pod) => pod.ready).length
  return { ok: ready > 0, detail: `${ready} of ${pods.length} ready`, ready }
}

/** A part of the control side works when one of its pods answers. */
async function checkControlPods(
  { kube }: Deps,
  { component, port, signal }: { component: string; port: number; signal: AbortSignal },
): Promise<PartReport> {
  const pods = await kube.listPods(`app.kubernetes.io/name=trainyard,app.kubernetes.io/component=${component}`)
  const answers = await Promise.all(
    pods.map(async ({ ip }) => {
      const response = await fetch(`${buildOrigin('http', ip ?? '', port)}/health`, { signal }).catch(() => undefined)
      return response?.ok === true
    }),
  )
  const working = answers.filter(Boolean).length
  return { ok: working > 0, detail: pods.length === 0 ? 'no pod' : `${working} of ${pods.length} pods answer` }
}
