import type { Caller } from '../../accounts/context.ts'
import type { CallWriter } from './writer.ts'
import type { Projects } from '../projects.ts'
import { emptySchema } from '../schema.ts'
import type { TraceApi } from '../trace-api.ts'
import type { CallPart } from './parts.ts'
import { readEnd, readStart } from './read-parts.ts'
import {
  batchBodySchema,
  completeBodySchema,
  endBodySchema,
  endTexts,
  startBodySchema,
  startedSchema,
  startTexts,
  type WireStart,
} from './schema.ts'

export interface IngestDeps {
  calls: CallWriter
  projects: Projects
}

const tag = 'Calls'
const under = (path: string, names: readonly string[]) => names.map((name) => `${path}.${name}`)
const writes = { stores: true, masksKeys: true }
const startBody = { ...writes, body: startBodySchema, texts: under('start', startTexts) }
const endBody = { ...writes, body: endBodySchema, texts: under('end', endTexts) }
const batchTexts = [...under('batch[].req.start', startTexts), ...under('batch[].req.end', endTexts)]

/**
 * Routes through which calls are written: whole calls, or starts and ends in any order. An answered call is durable.
 */
export function routeIngest(api: TraceApi, deps: IngestDeps): void {
  routeWhole(api, deps)
  routeParts(api, deps)

  api.post(
    '/call/upsert_batch',
    { tag, summary: 'Store starts and ends of calls', ...writes, body: batchBodySchema, texts: batchTexts },
    async ({ caller, body: { batch } }) => {
      const parts = batch.map((item, index): CallPart & { projectId: string } => {
        const path = ['body', 'batch', String(index), 'req', item.mode]
        if (item.mode === 'end') {
          const { end } = item.req
          return { projectId: end.project_id, id: end.id, end: readEnd(end, path) }
        }
        const { start } = item.req
        return { projectId: start.project_id, ...readStart(start, caller.keyId, path) }
      })
      await writeByProject(deps, caller, parts)
      return { res: parts.map(({ id, start }) => (start ? { id, trace_id: start.traceId } : {})) }
    },
  )
}

function routeWhole(api: TraceApi, deps: IngestDeps): void {
  api.post(
    '/v2/{entity}/{project}/calls/complete',
    {
      tag,
      summary: 'Store calls that have ended',
      ...writes,
      body: completeBodySchema,
      texts: under('batch[]', [...startTexts, ...endTexts]),
      answer: emptySchema,
    },
    async ({ caller, params, body: { batch } }) => {
      const project = await deps.projects.open(caller, `${params.entity}/${params.project}`)
      const parts = batch.map((call, index): CallPart => {
        const path = ['body', 'batch', String(index)]
        return { ...readStart(call, caller.keyId, path), end: readEnd(call, path) }
      })
      await deps.calls.write(project, parts)
      return {}
    },
  )
}

function routeParts(api: TraceApi, deps: IngestDeps): void {
  const addStart = async (caller: Caller, projectId: string, wire: WireStart) => {
    const project = await deps.projects.open(caller, projectId)
    const part = readStart(wire, caller.keyId, ['body', 'start'])
    await deps.calls.write(project, [part])
    return { id: part.id, trace_id: part.start.traceId }
  }
  const startOperation = { tag, summary: 'Store the start of a call', ...startBody, answer: startedSchema }
  api.post('/call/start', startOperation, ({ caller, body: { start } }) => addStart(caller, start.project_id, start))
  api.post('/v2/{entity}/{project}/call/start', startOperation, ({ caller, params, body: { start } }) =>
    addStart(caller, `${params.entity}/${params.project}`, start),
  )

  const addEnd = async (caller: Caller, projectId: string, part: CallPart) => {
    await deps.calls.write(await deps.projects.open(caller, projectId), [part])
    return {}
  }
  const endOperation = { tag, summary: 'Store the end of a call', ...endBody, answer: emptySchema }
  api.post('/call/end', endOperation, ({ caller, body: { end } }) =>
    addEnd(caller, end.project_id, { id: end.id, end: readEnd(end, ['body', 'end']) }),
  )
  api.post('/v2/{entity}/{project}/call/end', endOperation, ({ caller, params, body: { end } }) =>
    addEnd(caller, `${params.entity}/${params.project}`, { id: end.id, end: readEnd(end, ['body', 'end']) }),
  )
}

/** A batch may hold calls of several projects. All projects are looked up before anything is written. */
async function writeByProject(
  { projects, calls }: IngestDeps,
  caller: Caller,
  parts: (CallPart & { projectId: string })[],
): Promise<void> {
  const byProject = Map.groupBy(parts, ({ projectId }) => projectId)
  const opened = await Promise.all(
    [...byProject].map(async ([projectId, own]) => [await projects.open(caller, projectId), own] as const),
  )
  await Promise.all(opened.map(([project, own]) => calls.write(project, own)))
}
