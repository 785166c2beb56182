import { folderOfTraces } from '../../artifacts/layout.ts'
import {
  closeProjects,
  countClosedProjects,
  eraseSomeRows,
  deleteErasedProject,
  listClosedProjects,
  listErasedProjects,
  markErased,
} from '../../db/erasure/traces.ts'
import { eraseProjectCalls } from '../../db/erasure/traces.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { Pool } from '../../db/pool.ts'
import { removeBelow } from '../deletion/files.ts'

interface Deps {
  tracing: Pool
  artifacts: ArtifactStore
}

const rowsPerStatement = 1_000
// Apiservers cache a project's number for 5 s, and a request may be running.
const firstErasureSeconds = 10
// No request that knows the number takes longer.
const secondErasureSeconds = 3600

/** The traces to erase: those of one project of an entity, or of all its projects, that existed at a time. */
export interface TracesToErase {
  entity: string
  project: string | null
  requestedAt: Date
}

/**
 * Erases traces; returns true when nothing is left. The first call hides the projects. Their rows and files are erased
 * once no apiserver caches the projects, so the caller repeats it until then.
 */
export async function eraseTraces(deps: Deps, { entity, project, requestedAt }: TracesToErase): Promise<boolean> {
  await closeProjects(deps.tracing, { entity, project, before: requestedAt })
  for (const number of await listClosedProjects(deps.tracing, entity, firstErasureSeconds)) {
    await eraseProject(deps, entity, number)
    await markErased(deps.tracing, number)
  }
  return (await countClosedProjects(deps.tracing, entity)) === 0
}

/** Erases again what was erased an hour ago: requests that were running then may have written to it. */
export async function eraseTracesAgain(deps: Deps): Promise<void> {
  for (const { entity, number } of await listErasedProjects(deps.tracing, secondErasureSeconds)) {
    await eraseProject(deps, entity, number)
    await deleteErasedProject(deps.tracing, number)
  }
}

async function eraseProject(deps: Deps, entity: string, number: number): Promise<void> {
  const { tracing, artifacts } = deps
  while ((await eraseProjectCalls(tracing, { number, limit: rowsPerStatement })) > 0);
  while ((await eraseSomeRows(tracing, number, rowsPerStatement)) > 0);
  // A writer that died may have left objects without rows.
  await removeBelow(artifacts, folderOfTraces(entity, number))
}
