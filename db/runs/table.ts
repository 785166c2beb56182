import { column, selectColumns, type RowOf } from '../columns.ts'

/** The states that are stored. `crashed` follows from the time of the last heartbeat. */
export const storedRunStates = ['running', 'finished', 'failed', 'killed', 'preempted', 'pending'] as const
export type StoredRunState = (typeof storedRunStates)[number]
export const runStates = [...storedRunStates, 'crashed', 'preempting'] as const
export type RunState = (typeof runStates)[number]

// Clients send something every half minute.
const heartbeatLimit = "interval '5 minutes'"

/** SQL of the state of a run now. */
export const sqlRunState = `(CASE WHEN r.state <> 'running' THEN r.state
  WHEN r.heartbeat_at < now() - ${heartbeatLimit} THEN CASE WHEN r.preempting THEN 'preempted' ELSE 'crashed' END
  WHEN r.preempting THEN 'preempting' ELSE 'running' END)`

/** What clients set. */
export const runSettings = {
  displayName: column<string | null>('display_name', 'text'),
  description: column<string | null>('description', 'text'),
  notes: column<string | null>('notes', 'text'),
  groupName: column<string | null>('group_name', 'text'),
  jobType: column<string | null>('job_type', 'text'),
  program: column<string | null>('program', 'text'),
  repository: column<string | null>('repository', 'text'),
  commitHash: column<string | null>('commit_hash', 'text'),
  host: column<string | null>('host', 'text'),
  tags: column<string[]>('tags', 'text[]'),
}

/** Columns of `training.runs`, without config and summary, which may be large. */
export const runColumns = {
  number: column<number>('number', 'bigint'),
  id: column<string>('id', 'uuid'),
  entity: column<string>('entity', 'text'),
  project: column<string>('project', 'text'),
  name: column<string>('name', 'text'),
  ...runSettings,
  exitCode: column<number | null>('exit_code', 'integer'),
  stopping: column<boolean>('stopping', 'boolean'),
  createdAt: column<Date>('created_at', 'timestamptz'),
  heartbeatAt: column<Date>('heartbeat_at', 'timestamptz'),
  finishedAt: column<Date | null>('finished_at', 'timestamptz'),
  historyLines: column<number>('history_lines', 'bigint'),
  eventLines: column<number>('event_lines', 'bigint'),
  outputLines: column<number>('output_lines', 'bigint'),
  lastStep: column<number>('last_step', 'bigint'),
}

export type RunRow = RowOf<typeof runColumns> & { state: RunState }

/** The list of a SELECT from `training.runs r`. */
export const selectRun = `${selectColumns(runColumns, 'r')}, ${sqlRunState} AS state`

/** The name of a run. Its entity is the caller's. */
export interface RunName {
  entity: string
  project: string
  name: string
}
