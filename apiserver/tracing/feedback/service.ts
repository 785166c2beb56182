import { unprocessable, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { isAboutValues } from '../errors.ts'
import {
  deleteFeedback,
  insertFeedback,
  listFeedbackOfCalls,
  replaceFeedback,
  type NewFeedback,
  type StoredFeedback,
} from '../../../db/tracing/feedback.ts'
import { withTransaction, type Pool } from '../../../db/pool.ts'
import { rawList, rawText, type RawJson } from '../../../lib/json/raw.ts'
import type { Caller } from '../../accounts/context.ts'
import { newId } from '../ids.ts'
import type { Project, Projects, ProjectDeps } from '../projects.ts'
import { tryParseRef } from '../refs/parse-ref.ts'
import { AnnotationChecks, type FeedbackDeps } from './annotation-spec.ts'
import { presentOfCall } from './present.ts'
import { checkFeedback } from './rules.ts'
import type { WireFeedback } from './schema.ts'

/** @throws {HttpError} 400 for a broken rule, 422 for a payload that is not an object */
export async function createFeedback(deps: FeedbackDeps, caller: Caller, wire: WireFeedback): Promise<StoredFeedback> {
  const item = await readFeedback(new AnnotationChecks(deps, caller), {
    projects: deps.projects,
    caller,
    wire,
    loc: ['body'],
  })
  const project = await deps.projects.open(caller, wire.project_id)
  const [stored] = await insertFeedback(deps.pool, project.number, [item])
  return stored!
}

/** Replaces feedback with new feedback. If other feedback already has the given id, the new one gets another id. */
export async function replaceWith(
  deps: FeedbackDeps,
  caller: Caller,
  wire: WireFeedback & { feedback_id: string },
): Promise<StoredFeedback> {
  const item = await readFeedback(new AnnotationChecks(deps, caller), {
    projects: deps.projects,
    caller,
    wire,
    loc: ['body'],
  })
  const project = await deps.projects.open(caller, wire.project_id)
  return replaceFeedback(deps.pool, project.number, { replaced: wire.feedback_id, by: item, spareId: newId() })
}

/**
 * Stores all items or none. Clients search for a rejected item by sending parts of the batch, but only after a 422.
 * After any other status they would drop the whole batch.
 *
 * @throws {HttpError} 422 with the first item that breaks a rule
 */
export async function createBatch(
  deps: FeedbackDeps,
  caller: Caller,
  batch: WireFeedback[],
): Promise<StoredFeedback[]> {
  const items: (NewFeedback & { projectId: string })[] = []
  const checks = new AnnotationChecks(deps, caller)
  for (const [index, wire] of batch.entries()) {
    const loc = ['body', 'batch', String(index)]
    const item = await catchIssue(() => readFeedback(checks, { projects: deps.projects, caller, wire, loc }), loc)
    // Only the first bad item is reported: a search for more may take a second for each hostile schema.
    if (!('id' in item)) throw unprocessable(item)
    items.push({ ...item, projectId: wire.project_id })
  }
  return storeBatch(deps, caller, items)
}

async function storeBatch(
  deps: ProjectDeps,
  caller: Caller,
  items: (NewFeedback & { projectId: string })[],
): Promise<StoredFeedback[]> {
  const byProject: { project: Project; own: NewFeedback[] }[] = []
  for (const [projectId, own] of Map.groupBy(items, (item) => item.projectId)) {
    byProject.push({ project: await deps.projects.open(caller, projectId), own })
  }
  // The insert updates and locks a row that counts the project's storage. All writers lock these rows in the same
  // order.
  byProject.sort((a, b) => a.project.number - b.project.number)
  const stored = new Map<NewFeedback, StoredFeedback>()
  await withTransaction(deps.pool, async (connection) => {
    for (const { project, own } of byProject) {
      const taken = await insertFeedback(connection, project.number, own)
      for (const [index, item] of own.entries()) stored.set(item, taken[index]!)
    }
  })
  return items.map((item) => stored.get(item)!)
}

/** Turns a broken rule into an issue of the batch. A project of another entity still fails the whole batch. */
async function catchIssue(read: () => Promise<NewFeedback>, loc: string[]): Promise<NewFeedback | ValidationIssue> {
  try {
    return await read()
  } catch (error) {
    if (!isAboutValues(error) || error.status === 403) throw error
    return { loc, msg: error.message, type: 'value_error' }
  }
}

async function readFeedback(
  checks: AnnotationChecks,
  { projects, caller, wire, loc }: { projects: Projects; caller: Caller; wire: WireFeedback; loc: string[] },
): Promise<NewFeedback> {
  if (wire.payload.first !== '{') {
    throw unprocessable({ loc: [...loc, 'payload'], msg: 'Input should be a valid dictionary', type: 'dict_type' })
  }
  // The project is created later, when there is something to store.
  const { id: projectId } = await projects.find(caller, wire.project_id)
  const { payload, annotation } = checkFeedback(wire, projectId)
  if (annotation) await checks.check(annotation)
  const target = tryParseRef(wire.weave_ref)
  return {
    id: wire.id || newId(),
    weaveRef: wire.weave_ref,
    callId: target?.kind === 'call' && target.projectId === projectId ? target.id : null,
    feedbackType: wire.feedback_type,
    payload,
    creator: wire.creator ?? null,
    wbUserId: caller.keyId,
    annotationRef: wire.annotation_ref ?? null,
    runnableRef: wire.runnable_ref ?? null,
    callRef: wire.call_ref ?? null,
    triggerRef: wire.trigger_ref ?? null,
  }
}

export async function purgeFeedback(pool: Pool, project: Project, ids: string[]): Promise<void> {
  await deleteFeedback(pool, project.number, ids)
}

/** The feedback on each call as a JSON list, oldest first. Calls without feedback are left out. */
export async function feedbackOfCalls(pool: Pool, project: Project, callIds: string[]): Promise<Map<string, RawJson>> {
  const rows = await listFeedbackOfCalls(pool, project.number, callIds)
  const byCall = [...Map.groupBy(rows, ({ callId }) => callId)]
  return new Map(byCall.map(([id, own]) => [id, rawText(rawList(own.map(presentOfCall)))]))
}
