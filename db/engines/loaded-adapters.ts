import { withTransaction, type Pool } from '../pool.ts'

/** A container of an engine pod. One that starts again has loaded nothing yet. */
export interface EngineContainer {
  podName: string
  podUid: string
  containerStart: string
}

/** What an engine pod lists as loaded. */
export interface LoadedList {
  ids: string[]
  /** How long ago the pod was asked. What was recorded since then is newer than the list. */
  ageMs: number
}

/** Replaces what is known of a pod by what it lists as loaded. */
export async function recordLoadedList(pool: Pool, container: EngineContainer, list: LoadedList): Promise<void> {
  const { podName, podUid, containerStart } = container
  await withTransaction(pool, async (connection) => {
    await connection.query(
      `DELETE FROM training.engine_adapters WHERE pod_name = $1 AND (
         (pod_uid, container_start) IS DISTINCT FROM ($2, $3)
         OR error IS NULL AND checkpoint_id <> ALL ($4::uuid[])
           AND seen_at < clock_timestamp() - make_interval(secs => $5))`,
      [podName, podUid, containerStart, list.ids, list.ageMs / 1000],
    )
    await connection.query(
      `INSERT INTO training.engine_adapters AS known (pod_name, pod_uid, container_start, checkpoint_id)
       SELECT $1, $2, $3, id FROM unnest($4::uuid[]) AS id ORDER BY id
       ON CONFLICT (pod_name, checkpoint_id) DO UPDATE SET error = NULL, seen_at = excluded.seen_at
       WHERE known.error IS NOT NULL AND known.seen_at < clock_timestamp() - make_interval(secs => $5)`,
      [podName, podUid, containerStart, list.ids, list.ageMs / 1000],
    )
  })
}

/** Records that an engine has loaded an adapter, or why it cannot. */
export async function recordLoad(
  pool: Pool,
  { podName, podUid, containerStart }: EngineContainer,
  { checkpointId, error }: { checkpointId: string; error: string | null },
): Promise<void> {
  await pool.query(
    `INSERT INTO training.engine_adapters AS known (pod_name, pod_uid, container_start, checkpoint_id, error)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (pod_name, checkpoint_id)
     DO UPDATE SET pod_uid = $2, container_start = $3, error = $5, seen_at = excluded.seen_at`,
    [podName, podUid, containerStart, checkpointId, error],
  )
}

/** Forgets an adapter that an engine was told to unload. */
export async function forgetAdapter(pool: Pool, podName: string, checkpointId: string): Promise<void> {
  await pool.query('DELETE FROM training.engine_adapters WHERE pod_name = $1 AND checkpoint_id = $2', [
    podName,
    checkpointId,
  ])
}

/** Forgets what a pod had loaded. */
export async function forgetPod(pool: Pool, podName: string): Promise<void> {
  await pool.query('DELETE FROM training.engine_adapters WHERE pod_name = $1', [podName])
}

/** Lists the pods of which something is known. */
export async function listKnownPods(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>('SELECT DISTINCT pod_name AS name FROM training.engine_adapters')
  return rows.map(({ name }) => name)
}

/** A checkpoint that is loaded on a pod. */
export interface LoadedAdapter {
  podName: string
  checkpointId: string
}

/** Lists what these pods have loaded; null: all pods. */
export async function listLoadedAdapters(
  pool: Pool,
  podNames: string[] | null,
  limit: number,
): Promise<LoadedAdapter[]> {
  const { rows } = await pool.query<LoadedAdapter>(
    `SELECT pod_name AS "podName", checkpoint_id AS "checkpointId" FROM training.engine_adapters
     WHERE error IS NULL AND ($1::text[] IS NULL OR pod_name = ANY ($1)) ORDER BY seen_at DESC LIMIT $2`,
    [podNames, limit],
  )
  return rows
}

/** What an engine pod has said about a checkpoint. */
export interface AdapterLoad {
  pod: string
  /** Since when it is loaded, or when it was last tried. */
  at: Date
  error: string | null
}

// More pods than a person looks through.
const maxLoads = 100

/** Lists what engine pods have said about a checkpoint, in the order of time. */
export async function listLoads(pool: Pool, checkpointId: string): Promise<AdapterLoad[]> {
  const { rows } = await pool.query<AdapterLoad>(
    `SELECT pod_name AS pod, seen_at AS at, error FROM training.engine_adapters
     WHERE checkpoint_id = $1 ORDER BY seen_at, pod_name LIMIT ${maxLoads}`,
    [checkpointId],
  )
  return rows
}

/** An adapter of which a pod has said something. */
export interface PodAdapter {
  id: string
  modelId: string
  error: string | null
  /** Whether it is the newest step of its model. */
  isNewest: boolean
  /** Since it was loaded, or tried. */
  ageSeconds: number
  /** Since clients last asked for it; null if they have not lately. */
  unusedSeconds: number | null
}

/** Lists the adapters of which a pod has said something, without deleted ones. */
export async function listPodAdapters(pool: Pool, podName: string): Promise<PodAdapter[]> {
  const { rows } = await pool.query<PodAdapter>(
    `SELECT a.checkpoint_id AS id, c.model_id AS "modelId", a.error,
       NOT EXISTS (SELECT FROM training.checkpoints n
         WHERE n.model_id = c.model_id AND n.step > c.step AND n.deleted_at IS NULL) AS "isNewest",
       extract(epoch FROM clock_timestamp() - a.seen_at)::float8 AS "ageSeconds",
       (SELECT extract(epoch FROM clock_timestamp() - max(u.asked_at))::float8 FROM training.adapter_uses u
        WHERE u.checkpoint_id = a.checkpoint_id) AS "unusedSeconds"
     FROM training.engine_adapters a JOIN training.checkpoints c ON c.id = a.checkpoint_id
     WHERE a.pod_name = $1 AND c.deleted_at IS NULL ORDER BY a.seen_at`,
    [podName],
  )
  return rows
}
