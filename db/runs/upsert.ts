import type { Pool } from '../pool.ts'
import { runSettings, selectRun, type RunName, type RunRow, type StoredRunState } from './table.ts'

/** What a client sets. What is undefined stays as it is. */
export interface RunChange {
  displayName?: string | undefined
  description?: string | undefined
  notes?: string | undefined
  groupName?: string | undefined
  jobType?: string | undefined
  program?: string | undefined
  repository?: string | undefined
  commitHash?: string | undefined
  host?: string | undefined
  tags?: string[] | undefined
  /** JSON objects, as text. */
  config?: string | undefined
  summary?: string | undefined
  state?: StoredRunState | undefined
}

const settings = Object.entries(runSettings)
const settingNames = settings.map(([, { name }]) => name)
const first = 5
const parameterOf = (index: number) => `$${first + index}::${settings[index]![1].type}`
const [config, summary, state] = [0, 1, 2].map((index) => `$${first + settings.length + index}`)
const changes = [
  ...settingNames.map((name, index) => `${name} = coalesce(${parameterOf(index)}, r.${name})`),
  `config = coalesce(${config}::jsonb, r.config)`,
  `summary = coalesce(${summary}::jsonb, r.summary)`,
]

function listValues(change: RunChange): unknown[] {
  const set = settings.map(([field]) => change[field as keyof RunChange] ?? null)
  return [...set, change.config ?? null, change.summary ?? null, change.state ?? null]
}

/**
 * Creates a run, or changes the one with this name. A client that begins to write to a run that has ended lets it run
 * again.
 */
export async function upsertRun(
  pool: Pool,
  { entity, project, name }: RunName,
  { keyId, change }: { keyId: string; change: RunChange },
): Promise<RunRow & { inserted: boolean }> {
  const inserted = settings.map(([, { type }], index) =>
    type === 'text[]' ? `coalesce(${parameterOf(index)}, '{}')` : parameterOf(index),
  )
  const { rows } = await pool.query<RunRow & { inserted: boolean }>(
    `INSERT INTO training.runs AS r (entity, project, name, key_id, ${settingNames.join(', ')}, config, summary, state)
     VALUES ($1, $2, $3, $4, ${inserted.join(', ')}, coalesce(${config}::jsonb, '{}'), coalesce(${summary}::jsonb, '{}'),
       coalesce(${state}, 'running'))
     ON CONFLICT (entity, project, name) WHERE deleted_at IS NULL DO UPDATE SET ${changes.join(', ')},
       state = coalesce(${state}, 'running'), heartbeat_at = now(), finished_at = NULL, exit_code = NULL,
       stopping = r.stopping AND r.finished_at IS NULL, preempting = r.preempting AND r.finished_at IS NULL
     RETURNING ${selectRun}, xmax = 0 AS inserted`,
    [entity, project, name, keyId, ...listValues(change)],
  )
  return rows[0]!
}

/** Changes a run that its reader knows by its id. Undefined if the entity does not have it. */
export async function changeRun(
  pool: Pool,
  { entity, id }: { entity: string; id: string },
  change: RunChange,
): Promise<RunRow | undefined> {
  // $3 and $4 keep the numbers of the other parameters.
  const { rows } = await pool.query<RunRow>(
    `UPDATE training.runs r SET ${changes.join(', ')}, state = coalesce(${state}, r.state)
     WHERE r.entity = $1 AND r.id = $2 AND r.deleted_at IS NULL AND $3::text IS NULL AND $4::text IS NULL
     RETURNING ${selectRun}`,
    [entity, id, null, null, ...listValues(change)],
  )
  return rows[0]
}

/** Asks the client of a run to stop. Returns whether the entity has the run. */
export async function requestStop(pool: Pool, { entity, id }: { entity: string; id: string }): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE training.runs SET stopping = (state = 'running') WHERE entity = $1 AND id = $2 AND deleted_at IS NULL`,
    [entity, id],
  )
  return rowCount === 1
}
