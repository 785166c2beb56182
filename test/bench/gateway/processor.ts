import { readdirSync, readFileSync } from 'node:fs'

/** Nanoseconds of processor time by process. */
export type CpuReading = Map<number, number>

/**
 * Processor time of processes since each began, the system's for them included. The kernel's scheduler counts it in
 * nanoseconds; the hundredths of a second of /proc/PID/stat are too coarse for a thousand requests.
 */
export function readCpu(pids: readonly number[]): CpuReading {
  return new Map(pids.map((pid) => [pid, readThreads(pid)]))
}

/** Microseconds between two readings. A process that began meanwhile counts from its beginning. */
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

/** A process and all below it. */
export function listTree(root: number): number[] {
  const parents = new Map(
    readNames('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), readParent(name)]),
  )
  const belongs = (pid: number): boolean => pid === root || (parents.has(pid) && belongs(parents.get(pid)!))
  return [...parents.keys()].filter(belongs)
}

/** Processes of a Postgres server, but for backends of other databases: those say what they are for in their titles. */
export function listPostgres(postmasterPid: number, database: string): number[] {
  return listTree(postmasterPid).filter((pid) => {
    const served = /^postgres: \S+ (\S+) \S+\(\d+\)/.exec(readText(`/proc/${pid}/cmdline`))?.[1]
    return served === undefined || served === database
  })
}

/** Resident memory of processes in megabytes. */
export function readMemoryMb(pids: readonly number[]): number {
  let kilobytes = 0
  for (const pid of pids) kilobytes += Number(/^VmRSS:\s+(\d+) kB/m.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0)
  return (kilobytes * 1024) / 1e6
}

function readParent(pid: string): number {
  const line = readText(`/proc/${pid}/stat`)
  return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[1])
}

/** The text of a file below /proc; empty when its process has just ended. */
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
