import { readFileSync } from 'node:fs'

/**
 * The fields of /proc/PID/stat that are used here. Linux reuses process ids. The start time distinguishes two processes
 * with the same id.
 */
export interface ProcessStat {
  pid: number
  /** In clock ticks since boot. */
  startTicks: string
  /** As in proc(5): R, S, D, Z, ... */
  state: string
  session: number
}

/** Parses /proc/PID/stat. Undefined for other text. The process name in it may contain spaces and brackets. */
export function parseStat(line: string): ProcessStat | undefined {
  const end = line.lastIndexOf(')')
  const fields = line.slice(end + 2).split(' ')
  const pid = Number.parseInt(line, 10)
  const [state, startTicks] = [fields[0], fields[19]]
  if (end < 0 || !pid || !state || !startTicks) return undefined
  return { pid, startTicks, state, session: Number(fields[3]) }
}

/** Reads the current state of a process. Undefined if there is none. */
export function readStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

/** The id of the machine's current boot. Start ticks of different boots cannot be compared. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}
