import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { findRun, findRunById, hasRuns } from '../../../db/runs/find.ts'
import type { RunName } from '../../../db/runs/table.ts'
import { findProjectTime, listProjects } from '../../../db/runs/projects.ts'
import { deleteProjectRuns, deleteRun } from '../../../db/runs/remove.ts'
import { changeRun, requestStop, upsertRun } from '../../../db/runs/upsert.ts'
import type { LimitDeps } from '../../accounts/limits/service.ts'
import { errors } from '../../errors/table.ts'
import { findBoolean, findInteger, findText, invalidArgument, readObject, requireText } from '../graphql/arguments.ts'
import type { GraphqlContext, GraphqlResource, ProjectName } from '../graphql/resource.ts'
import { readEntity, readProject } from '../graphql/roots.ts'
import type { Arguments, GraphqlObject } from '../graphql/values.ts'
import { countSelected, listSelected } from './list.ts'
import { defaultRunProject, generateRunName, isRunName } from '../run-names.ts'
import { presentPageInfo } from '../graphql/page-info.ts'
import { presentRun, type RunPresentDeps } from './present.ts'
import { requireRunStorage } from './require-storage.ts'
import { readRunChange, readState, unsupported } from './read-input.ts'

export interface RunDeps extends LimitDeps, RunPresentDeps {}

const maxProjects = 200
// wandb 0.25 asks which fields these have. It does without what is not listed, but does not expect null.
const askedTypes = [
  'Query',
  'ServerInfo',
  'ServerSettings',
  'Project',
  'Run',
  'DeleteFilesInput',
  'File',
  'PushToRunQueueInput',
]

/** Runs: to begin, change, find and delete them. */
export function createRunsResource(deps: RunDeps): GraphqlResource {
  const { pool } = deps
  return {
    query: {
      model: (args, context) => openModel(deps, args, context),
      models: (args, context) => presentProjects(deps, args, context),
    },
    mutation: {
      upsertBucket: (args, context) => upsertBucket(deps, readObject(args, 'input'), context),
      deleteRun: (args, context) => removeRun(deps, readObject(args, 'input'), context),
      deleteModel: async (args, context) => {
        const { entity, project } = readProjectId(requireText(readObject(args, 'input'), 'id'), context)
        return { success: (await deleteProjectRuns(pool, entity, project)) > 0 }
      },
      updateRunState: (args, context) => updateRunState(deps, readObject(args, 'input'), context),
      stopRun: async (args, context) => ({
        clientMutationId: null,
        success: await requestStop(pool, readId(readObject(args, 'input'), context)),
      }),
    },
    hasProject: (_, { entity, project }) => hasRuns(pool, entity, project),
    projectFields: (context, name) => projectFields(deps, context, name),
    // Only automations are searched in these.
    viewerFields: () => ({ projects: () => reject('Automations') }),
    entityFields: () => ({ projects: () => reject('Automations') }),
    types: {
      ...Object.fromEntries(askedTypes.map((name) => [name, { fields: [], inputFields: [] }])),
      // Otherwise wandb 0.25 raises an error without a message, and does not send the mutation, which has one.
      Mutation: { fields: [{ name: 'createDefaultResourceConfig' }] },
    },
  }
}

function projectFields(deps: RunDeps, context: GraphqlContext, name: ProjectName): GraphqlObject {
  const { entity, project } = name
  return {
    internalId: '1',
    isBenchmark: false,
    readOnly: false,
    user: null,
    createdAt: async () => ((await findProjectTime(deps.pool, entity, project)) ?? new Date(0)).toISOString(),
    run: (args) => openRun(deps, context, { ...name, name: findText(args, 'name') ?? '' }),
    bucket: (args) => openRun(deps, context, { ...name, name: findText(args, 'name') ?? '' }),
    runCount: (args) => countSelected(deps, name, args),
    runs: async (args) => {
      const { rows, hasMore } = await listSelected(deps, name, args)
      return {
        edges: rows.map((run) => ({ cursor: String(run.number), node: presentRun(deps, context, run) })),
        pageInfo: presentPageInfo(hasMore, rows.at(-1)?.number),
        totalCount: () => countSelected(deps, name, args),
      }
    },
    ...Object.fromEntries(missingParts.map(([field, what]) => [field, () => reject(what)])),
  }
}

// Clients take null for something that does not exist.
const missingParts = [
  ['sweep', 'Sweeps'],
  ['sweeps', 'Sweeps'],
  ['totalSweeps', 'Sweeps'],
  ['allViews', 'Reports'],
  ['runQueues', 'Queues of launch'],
  ['runQueue', 'Queues of launch'],
] as const

function reject(what: string): never {
  throw unsupported(what)
}

async function openRun(
  deps: RunDeps,
  context: GraphqlContext,
  name: ProjectName & { name: string },
): Promise<GraphqlObject | null> {
  const run = await findRun(deps.pool, name)
  return run ? presentRun(deps, context, run) : null
}

/** The project of a run that a client resumes. */
function openModel(deps: RunDeps, args: Arguments, context: GraphqlContext): GraphqlObject {
  const { entity, project } = readProject({ ...args, name: findText(args, 'name') ?? defaultRunProject }, context)
  return {
    __typename: 'Project',
    id: `${entity}/${project}`,
    name: project,
    entityName: entity,
    entity: { __typename: 'Entity', id: entity, name: entity },
    bucket: (given) => openRun(deps, context, { entity, project, name: requireText(given, 'name') }),
  }
}

async function upsertBucket(deps: RunDeps, input: Arguments, context: GraphqlContext): Promise<GraphqlObject> {
  const { pool } = deps
  const change = readRunChange(input)
  const { entity: own } = context.caller
  const name = findText(input, 'name')
  if (findText(input, 'id') !== undefined && name === undefined) {
    const id = readId(input, context)
    await requireRunStorage(deps, own, { change, find: () => findRunById(pool, own, id.id) })
    const run = await changeRun(pool, id, change)
    if (!run) throw notFound('Run')
    return { bucket: presentRun(deps, context, run), inserted: false }
  }
  const run = readRunName(input, context)
  await requireRunStorage(deps, own, { change, find: () => findRun(pool, run) })
  const { inserted, ...row } = await upsertRun(pool, run, { keyId: context.caller.keyId, change })
  return { bucket: presentRun(deps, context, row), inserted }
}

/** The project and the name of a run that begins. The server chooses what is missing. */
function readRunName(input: Arguments, context: GraphqlContext): RunName {
  const given = { ...input, modelName: input['modelName'] ?? defaultRunProject }
  const { entity, project } = readProject(given, context, 'modelName')
  const name = findText(input, 'name') ?? generateRunName()
  if (isRunName(name)) return { entity, project, name }
  throw invalidArgument('name', 'must be the id of a run: at most 128 characters, without / \\ # ? % :')
}

/** A run's id, in the caller's entity. @throws {HttpError} 404 */
function readId(input: Arguments, { caller }: GraphqlContext): { entity: string; id: string } {
  const id = requireText(input, 'id')
  if (!isUuid(id)) throw notFound('Run')
  return { entity: caller.entity, id }
}

/** Deletes a run. Its artifacts go first, so that a client can try again. */
async function removeRun(deps: RunDeps, input: Arguments, context: GraphqlContext): Promise<GraphqlObject> {
  const name = readId(input, context)
  if (findBoolean(input, 'deleteArtifacts') === true) {
    if (!deps.runArtifacts) throw unsupported('Artifacts')
    const run = await findRunById(deps.pool, name.entity, name.id)
    if (run) await deps.runArtifacts.deleteLogged(context, run)
  }
  if (!(await deleteRun(deps.pool, name))) throw notFound('Run')
  return { clientMutationId: null }
}

function readProjectId(id: string, context: GraphqlContext): ProjectName {
  const at = id.indexOf('/')
  return readProject({ entityName: id.slice(0, Math.max(at, 0)), name: id.slice(at + 1) }, context)
}

// Other changes follow from what the run's own client sends.
const settable: ReadonlyMap<string, readonly string[]> = new Map([
  ['pending', ['running', 'failed', 'crashed', 'preempted']],
  ['failed', ['pending', 'running', 'crashed']],
])

async function updateRunState(deps: RunDeps, input: Arguments, context: GraphqlContext): Promise<GraphqlObject> {
  const name = readId(input, context)
  const state = readState(input)
  const run = await findRunById(deps.pool, name.entity, name.id)
  if (!run) throw notFound('Run')
  if (!settable.get(state ?? '')?.includes(run.state))
    throw new HttpError(errors.bad_request, `A run that is ${run.state} cannot be set to ${state ?? 'nothing'}.`)
  await changeRun(deps.pool, name, { state })
  return { success: true }
}

async function presentProjects({ pool }: RunDeps, args: Arguments, context: GraphqlContext): Promise<GraphqlObject> {
  const entity = readEntity(args, context)
  const limit = Math.min(Math.max(findInteger(args, 'first') ?? 50, 1), maxProjects)
  const rows = await listProjects(pool, entity, { after: findText(args, 'after'), limit: limit + 1 })
  const shown = rows.slice(0, limit)
  return {
    edges: shown.map(({ project, createdAt }) => ({
      cursor: project,
      node: {
        __typename: 'Project',
        id: `${entity}/${project}`,
        name: project,
        entityName: entity,
        createdAt: createdAt.toISOString(),
        isBenchmark: false,
        user: null,
      },
    })),
    pageInfo: presentPageInfo(rows.length > limit, shown.at(-1)?.project),
  }
}
