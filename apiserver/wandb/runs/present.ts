import { readRunValues } from '../../../db/runs/find.ts'
import type { RunRow } from '../../../db/runs/table.ts'
import { readTail } from '../../../db/runs/read-lines.ts'
import type { GraphqlContext } from '../graphql/resource.ts'
import type { GraphqlObject } from '../graphql/values.ts'
import { runFilesFields } from '../run-files/fields.ts'
import { historyFields, type HistoryDeps } from './history-fields.ts'
import { outputFields } from './output-fields.ts'
import type { RunArtifacts } from './run-artifacts.ts'
import { parseText } from '../../../lib/json/parse-text.ts'

export interface RunPresentDeps extends HistoryDeps {
  /** Undefined if this server has no artifacts. */
  runArtifacts: RunArtifacts | undefined
}

/** A run. What is large is read only if it is selected. */
export function presentRun(deps: RunPresentDeps, context: GraphqlContext, run: RunRow): GraphqlObject {
  const { entity, project } = run
  return {
    ...presentSettings(run),
    project: { __typename: 'Project', id: `${entity}/${project}`, name: project, entity: presentEntity(entity) },
    projectId: '1',
    user: { ...presentEntity(entity), __typename: 'User', username: entity },
    sweep: null,
    sweepName: null,
    ...valueFields(deps, run),
    ...historyFields(deps, context, run),
    ...outputFields(deps.pool, run),
    ...runFilesFields(deps.pool, context, run),
    ...deps.runArtifacts?.fields(context, run),
  }
}

const presentEntity = (entity: string) => ({ __typename: 'Entity', id: entity, name: entity })

function presentSettings(run: RunRow): GraphqlObject {
  return {
    __typename: 'Run',
    id: run.id,
    name: run.name,
    displayName: run.displayName ?? run.name,
    description: run.description,
    notes: run.notes,
    group: run.groupName,
    groupName: run.groupName,
    jobType: run.jobType,
    commit: run.commitHash,
    host: run.host,
    tags: run.tags,
    state: run.state,
    stopped: run.stopping,
    exitCode: run.exitCode,
    readOnly: false,
    createdAt: run.createdAt.toISOString(),
    heartbeatAt: run.heartbeatAt.toISOString(),
    updatedAt: run.heartbeatAt.toISOString(),
  }
}

/** Config and summary, which are read once if both are selected. */
function valueFields(deps: RunPresentDeps, run: RunRow): GraphqlObject {
  let reading: ReturnType<typeof readRunValues> | undefined
  const read = () => (reading ??= readRunValues(deps.pool, run.number))
  const lastEvent = { run: run.number, stream: 'events', lines: 1 } as const
  return {
    config: async () => (await read()).config,
    summaryMetrics: async () => (await read()).summary,
    wandbConfig: async ({ keys }) => pickConfig((await read()).config, keys),
    systemMetrics: async () => (await readTail(deps.pool, lastEvent))[0]?.text ?? '{}',
  }
}

/** Some of the members that SDKs keep in the config for themselves. */
function pickConfig(config: string, keys: unknown): string {
  const { _wandb: own } = parseText(config) as { _wandb?: { value?: Record<string, unknown> } }
  const wanted = Array.isArray(keys) ? keys.map(String) : []
  const values = own?.value ?? {}
  return JSON.stringify(Object.fromEntries(wanted.map((key) => [key, Object.hasOwn(values, key) ? values[key] : {}])))
}
