import { readFileSync } from 'node:fs'

/** The fields of /proc/PID/stat that we use. Linux uses process ids again; the start time tells two such processes apart. */
export interface ProcessStat {
  pid: number
  /** In clock ticks since boot. */
  startTicks: string
  /** As in proc(5): R, S, D, Z, ... */
  state: string
  session: number
}

/** Reads a line of /proc/PID/stat; undefined when it is not one. The name in it may hold spaces and brackets. */
export function parseStat(line: string): ProcessStat | undefined {
  const end = line.lastIndexOf(')')
  const fields = line.slice(end + 2).split(' ')
  const pid = Number.parseInt(line, 10)
  const [state, startTicks] = [fields[0], fields[19]]
  if (end < 0 || !pid || !state || !startTicks) return undefined
  return { pid, startTicks, state, session: Number(fields[3]) }
}

/** A process as it is now; undefined when there is none. */
export function readStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

/** The machine's present boot: start ticks of two boots are not comparable. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}
