import { readdirSync, readFileSync } from 'node:fs'

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
