import type { Connection } from '../pool.ts'

/**
 * Something that a user should know about a job, besides its state. docs/jobs.md lists the codes. `message` is a
 * sentence that says what to do.
 */
export interface JobWarning {
  code: string
  message: string
}

/** The maximum per job. */
const maxWarnings = 20

/** SQL: all warnings of a job `j`, in order. */
export const warningsOfJob = 'j.creation_warnings || j.training_warnings'

/** Returns the warnings of `reported` that are not in `known`, in order, as long as there is room. */
export function pickNewWarnings(known: JobWarning[], reported: JobWarning[]): JobWarning[] {
  const all = new Map([...known, ...reported].map((warning) => [`${warning.code} ${warning.message}`, warning]))
  return [...all.values()].slice(known.length, maxWarnings)
}

/** Lists the warnings of a job that are not in its `training_started`. */
export async function listUnreportedWarnings(connection: Connection, jobId: string): Promise<JobWarning[]> {
  const { rows } = await connection.query<{ unreported: JobWarning[] }>(
    `SELECT coalesce(jsonb_agg(warning ORDER BY ordinal), '[]') AS unreported
     FROM training.jobs j, jsonb_array_elements(${warningsOfJob}) WITH ORDINALITY AS listed (warning, ordinal)
     WHERE j.id = $1 AND NOT EXISTS (
       SELECT FROM training.events e
       WHERE e.job_id = j.id AND e.seq = 0 AND e.data->'warnings' @> jsonb_build_array(warning))`,
    [jobId],
  )
  return rows[0]?.unreported ?? []
}
