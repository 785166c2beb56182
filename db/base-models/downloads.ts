import type { Pool } from '../pool.ts'

/** How much of a base model's weights a pod has downloaded. */
export interface Download {
  doneBytes: number
  totalBytes: number
}

/** Records how far a pod's download is. */
export async function recordDownload(pool: Pool, podUid: string, { doneBytes, totalBytes }: Download): Promise<void> {
  await pool.query(
    `INSERT INTO training.model_downloads (pod_uid, done_bytes, total_bytes) VALUES ($1, $2, $3)
     ON CONFLICT (pod_uid) DO UPDATE SET done_bytes = $2, total_bytes = $3, reported_at = now()`,
    [podUid, doneBytes, totalBytes],
  )
}

/** The unfinished downloads of these pods, by the pods' uids. */
export async function findDownloads(pool: Pool, podUids: string[]): Promise<ReadonlyMap<string, Download>> {
  if (podUids.length === 0) return new Map()
  const { rows } = await pool.query<Download & { podUid: string }>(
    `SELECT pod_uid AS "podUid", done_bytes AS "doneBytes", total_bytes AS "totalBytes" FROM training.model_downloads
     WHERE pod_uid = ANY ($1::uuid[]) AND done_bytes < total_bytes`,
    [podUids],
  )
  return new Map(rows.map(({ podUid, ...download }) => [podUid, download]))
}

/** Removes what pods said that have said nothing for a day. */
export async function expireDownloads(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM training.model_downloads WHERE reported_at < now() - interval '1 day'")
}
