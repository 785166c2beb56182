import { readdirSync, readFileSync } from 'node:fs'

// The kernel reports CPU time in hundredths of a second, independently of its internal clock.
const ticksPerSecond = 100

/**
 * The CPU time of a process and of all its descendants, in seconds, user and system. The time of an ended process is
 * added to its parent, so that the sum only grows.
 */
export function readTreeSeconds(root: number): number {
  const stats = new Map<number, { parent: number; ticks: number }>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined
    if (stat) stats.set(Number(name), stat)
  }
  const belongs = (pid: number): boolean => pid === root || (stats.has(pid) && belongs(stats.get(pid)!.parent))
  let ticks = 0
  for (const [pid, stat] of stats) if (belongs(pid)) ticks += stat.ticks
  return ticks / ticksPerSecond
}

function readStat(pid: number): { parent: number; ticks: number } | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = line
      .slice(line.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [utime, stime, cutime, cstime] = fields.slice(11, 15) as [number, number, number, number]
    return { parent: fields[1]!, ticks: utime + stime + cutime + cstime }
  } catch {
    return undefined // It has just ended.
  }
}

/** Resident memory of a process in megabytes. */
export function readMemoryMb(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m)
  return (Number(line?.[1] ?? 0) * 1024) / 1e6
}
