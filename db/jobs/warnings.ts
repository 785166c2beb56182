import type { Connection } from '../pool.ts'

/** What a user should know of a job beside its state. `code` is one of docs/jobs.md, `message` a sentence and what to do. */
export interface JobWarning {
  code: string
  message: string
}

/** How many a job keeps. */
const maxWarnings = 20

/** For SQL: all warnings of a job `j`, in order. */
export const warningsOfJob = 'j.creation_warnings || j.training_warnings'

/** What `known` has not, in order, as far as there is room for more. */
export function pickNewWarnings(known: JobWarning[], told: JobWarning[]): JobWarning[] {
  const all = new Map([...known, ...told].map((warning) => [`${warning.code} ${warning.message}`, warning]))
  return [...all.values()].slice(known.length, maxWarnings)
}

/** The warnings of a job that its `training_started` does not have. */
export async function listUnreportedWarnings(connection: Connection, jobId: string): Promise<JobWarning[]> {
  const { rows } = await connection.query<{ unreported: JobWarning[] }>(
    `SELECT coalesce(jsonb_agg(warning ORDER BY place), '[]') AS unreported
     FROM training.jobs j, jsonb_array_elements(${warningsOfJob}) WITH ORDINALITY AS listed (warning, place)
     WHERE j.id = $1 AND NOT EXISTS (
       SELECT FROM training.events e
       WHERE e.job_id = j.id AND e.seq = 0 AND e.data->'warnings' @> jsonb_build_array(warning))`,
    [jobId],
  )
  return rows[0]?.unreported ?? []
}
