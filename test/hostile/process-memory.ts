import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../../db/pool.ts'

const sampleEveryMs = 100

/** The peak memory of processes during some work. */
export interface MemoryPeaks {
  /** The server's memory in bytes. */
  serverBytes: number
  /** The private memory of the largest Postgres backend, in bytes. */
  backendBytes: number
}

/** Reads the memory of a process in bytes: `VmRSS` is all, `RssAnon` is private. 0 when the process is gone. */
export async function readMemory(pid: number, field: 'VmRSS' | 'RssAnon'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(new RegExp(String.raw`^${field}:\s+(\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
}

/** Watches a server and the backends of its database until it is stopped. */
export function watchMemory(serverPid: number, pool: Pool): { peaks: MemoryPeaks; stop: () => Promise<void> } {
  const peaks: MemoryPeaks = { serverBytes: 0, backendBytes: 0 }
  const stop = new AbortController()
  const watching = (async () => {
    while (!stop.signal.aborted) {
      peaks.serverBytes = Math.max(peaks.serverBytes, await readMemory(serverPid, 'VmRSS'))
      peaks.backendBytes = Math.max(peaks.backendBytes, await readLargestBackend(pool))
      await delay(sampleEveryMs)
    }
  })()
  return {
    peaks,
    stop: async () => {
      stop.abort()
      await watching
    },
  }
}

async function readLargestBackend(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
  )
  return Math.max(...(await Promise.all(rows.map(({ pid }) => readMemory(pid, 'RssAnon')))))
}
