import type { Connection } from '../pool.ts'
import { isBlobNeeded } from '../artifacts/blobs.ts'

/** Whether rows point at a stored unit, or ever did. */
export interface UnitReference {
  prefix: string
  referenced: boolean
  /** the database has never heard of it */
  unseen: boolean
}

/** Looks up checkpoints by `checkpoints/<id>`: what is deleted and not purged yet is still looked after by somebody else. */
export const referToCheckpoints = referBy(
  `EXISTS (SELECT FROM training.checkpoints c WHERE c.id = split_part(prefix, '/', 2)::uuid AND c.purged_at IS NULL)
     OR EXISTS (SELECT FROM training.jobs j WHERE j.checkpoint_id = split_part(prefix, '/', 2)::uuid
                AND j.state NOT IN ('Succeeded', 'Failed', 'Cancelled'))`,
  `EXISTS (SELECT FROM training.checkpoints c WHERE c.id = split_part(prefix, '/', 2)::uuid)
     OR EXISTS (SELECT FROM training.jobs j WHERE j.checkpoint_id = split_part(prefix, '/', 2)::uuid)`,
)

/** Looks up token statistics by their keys, `token-statistics/<checkpoint>.parquet`; a report comes after its file. */
export const referToStatistics = referBy(
  `EXISTS (SELECT FROM training.checkpoints c WHERE c.id = substr(prefix, 18, 36)::uuid
           AND c.statistics_digest IS NOT NULL AND c.purged_at IS NULL)`,
  `EXISTS (SELECT FROM training.checkpoints c WHERE c.id = substr(prefix, 18, 36)::uuid)
     OR EXISTS (SELECT FROM training.jobs j WHERE j.checkpoint_id = substr(prefix, 18, 36)::uuid)`,
)

/** Looks up what jobs have saved, by `progress/<job>/<id>`. */
export const referToProgress = referBy(
  `EXISTS (SELECT FROM training.job_progress p
           WHERE p.job_id = split_part(prefix, '/', 2)::uuid AND p.id = split_part(prefix, '/', 3)::uuid)`,
  `EXISTS (SELECT FROM training.jobs j WHERE j.id = split_part(prefix, '/', 2)::uuid)`,
)

/** Looks up payloads by their keys. */
export const referToPayloads = referBy(
  `EXISTS (SELECT FROM training.jobs j WHERE j.input_uri = 'artifact:///' || prefix AND j.input_gone_at IS NULL)
     OR EXISTS (SELECT FROM training.logs l WHERE l.payload_uri = 'artifact:///' || prefix)`,
  `EXISTS (SELECT FROM training.jobs j WHERE j.input_uri = 'artifact:///' || prefix)
     OR EXISTS (SELECT FROM training.logs l WHERE l.payload_uri = 'artifact:///' || prefix)`,
)

/** Looks up files of data sets by their keys, `artifacts/<entity>/<digest>`. */
export const referToBlobs = referBy(
  `EXISTS (SELECT FROM training.blobs b
           WHERE b.entity = split_part(prefix, '/', 2) AND b.digest = split_part(prefix, '/', 3))
     OR EXISTS (SELECT FROM (VALUES (split_part(prefix, '/', 2), split_part(prefix, '/', 3))) AS b (entity, digest)
                WHERE ${isBlobNeeded})`,
  // Of those which were forgotten it is noted.
  'false',
)

/** Looks up parts of files, by `uploads/<entity>/<digest>`: nothing points at them, but whoever sends them has a key. */
export const referToUploads = referBy(
  'false',
  `EXISTS (SELECT FROM auth.api_keys k WHERE k.entity = split_part(prefix, '/', 2))`,
)

/** Looks up, in the database of traces, payloads of calls by their keys, `traces/<entity>/<project's number>/calls/<name>`. */
export const referToCalls = referBy(
  `EXISTS (SELECT FROM tracing.calls c WHERE c.spilled IS NOT NULL
           AND jsonb_path_query_array(c.spilled, '$.*.key') @> to_jsonb(prefix))
     OR EXISTS (SELECT FROM tracing.replaced_payloads r
                WHERE r.project = split_part(prefix, '/', 3)::int AND r.key = prefix)`,
  isProjectKnown(),
)

/** The same for files of traces, `traces/<entity>/<project's number>/files/<sha256>`. */
export const referToTraceFiles = referBy(
  'EXISTS (SELECT FROM tracing.files f WHERE f.artifact_key = prefix)',
  isProjectKnown(),
)

function isProjectKnown(): string {
  return `EXISTS (SELECT FROM tracing.projects p
    WHERE p.number = split_part(prefix, '/', 3)::int AND p.entity = split_part(prefix, '/', 2))`
}

/** @param known in SQL: whether there is a trace of what nothing points at any more */
function referBy(referenced: string, known: string) {
  return async (connection: Connection, prefixes: string[]): Promise<UnitReference[]> => {
    if (prefixes.length === 0) return []
    const { rows } = await connection.query<UnitReference>(
      `SELECT prefix, referenced, NOT referenced AND NOT (${known}) AS unseen
       FROM (SELECT prefix, ${referenced} AS referenced FROM unnest($1::text[]) AS given (prefix)) AS given`,
      [prefixes],
    )
    return rows
  }
}
