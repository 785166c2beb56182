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
import type { Context } from '../context.ts'
import { removeBelow } from '../deletion/files.ts'

type Deps = Pick<Context, 'tracing' | 'artifacts'>

const atOnce = 1_000
// Apiservers know a project's number for 5 s more, and a request may be under way.
const forgottenSeconds = 10
// Longer than any request may take that knows the number.
const surelyForgottenSeconds = 3600

/** What is to be erased: an entity's project, or all of them, as they were at a time. */
export interface TracesToErase {
  entity: string
  project: string | null
  requestedAt: Date
}

/**
 * Erases traces; true when nothing of them is left. Nobody finds the projects from the first time on; their rows and files
 * go when apiservers have surely forgotten them. To be repeated until then.
 */
export async function eraseTraces(deps: Deps, { entity, project, requestedAt }: TracesToErase): Promise<boolean> {
  await closeProjects(deps.tracing, { entity, project, before: requestedAt })
  for (const number of await listClosedProjects(deps.tracing, entity, forgottenSeconds)) {
    await eraseProject(deps, entity, number)
    await markErased(deps.tracing, number)
  }
  return (await countClosedProjects(deps.tracing, entity)) === 0
}

/** Erases once more what was erased a while ago, for whoever wrote to it all the same. */
export async function eraseLateTraces(deps: Deps): Promise<void> {
  for (const { entity, number } of await listErasedProjects(deps.tracing, surelyForgottenSeconds)) {
    await eraseProject(deps, entity, number)
    await deleteErasedProject(deps.tracing, number)
  }
}

async function eraseProject(deps: Deps, entity: string, number: number): Promise<void> {
  const { tracing, artifacts } = deps
  while ((await eraseProjectCalls(tracing, { number, limit: atOnce })) > 0);
  while ((await eraseSomeRows(tracing, number, atOnce)) > 0);
  // Also what a writer had put there when it died.
  await removeBelow(artifacts, folderOfTraces(entity, number))
}
