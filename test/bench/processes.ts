import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { layoutOf } from '../../local/stack/layout.ts'
import { dataFolder } from '../../local/stack/programs/postgres.ts'
import type { StackHandle } from '../support/global-setup.ts'

/** Nanoseconds of processor time by process. */
export type CpuReading = Map<number, number>

/**
 * The processor time of processes since their start, including system time. The kernel's scheduler counts it in
 * nanoseconds. The hundredths of a second in /proc/PID/stat are too coarse for a thousand requests.
 */
export function readCpu(pids: readonly number[]): CpuReading {
  return new Map(pids.map((pid) => [pid, readThreads(pid)]))
}

/** Microseconds between two readings. A process that started in between counts from its start. */
export function subtractCpu(after: CpuReading, before: CpuReading): number {
  let nanoseconds = 0
  for (const [pid, used] of after) nanoseconds += Math.max(0, used - (before.get(pid) ?? 0))
  return nanoseconds / 1000
}

function readThreads(pid: number): number {
  const folder = `/proc/${pid}/task`
  let nanoseconds = 0
  for (const thread of readNames(folder)) {
    const line = readText(`${folder}/${thread}/schedstat`)
    nanoseconds += Number(line.split(' ')[0])
  }
  return nanoseconds
}

/** A process and all its descendants. */
export function listTree(root: number): number[] {
  const parents = new Map(
    readNames('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), readParent(name)]),
  )
  const belongs = (pid: number): boolean => pid === root || (parents.has(pid) && belongs(parents.get(pid)!))
  return [...parents.keys()].filter(belongs)
}

/**
 * The processes of a Postgres server, without backends of other databases. Backends name their database in their
 * titles.
 */
export function listPostgres(postmasterPid: number, database: string): number[] {
  return listTree(postmasterPid).filter((pid) => {
    const served = /^postgres: \S+ (\S+) \S+\(\d+\)/.exec(readText(`/proc/${pid}/cmdline`))?.[1]
    return served === undefined || served === database
  })
}

/** The process of a stack's Postgres below which are all its others. */
export async function readPostgresPid({ stateFolder }: StackHandle): Promise<number> {
  const file = path.join(dataFolder(layoutOf(stateFolder).postgres), 'postmaster.pid')
  return Number.parseInt(await readFile(file, 'utf8'), 10)
}

/** The memory of a process in MB: now (VmRSS), or its peak (VmHWM). */
export function readMemoryMb(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  return (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readText(`/proc/${pid}/status`))?.[1]) * 1024) / 1e6
}

/** What `work` returns, and how many MB the memory of a process rose above what it had before. */
export async function measureMemory<T>(pid: number, work: () => Promise<T>) {
  const beforeMb = readMemoryMb(pid)
  // Resets the kernel's peak.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const result = await work()
  return { result, riseMb: readMemoryMb(pid, 'VmHWM') - beforeMb }
}

function readParent(pid: string): number {
  const line = readText(`/proc/${pid}/stat`)
  return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[1])
}

/** The text of a file in /proc. Empty if its process has just ended. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
