import { readBootId, readStat } from '../../process-stat.ts'

/** Identifies a process: its id and its start time (boot and clock ticks), because ids are reused. */
export interface ProcessIdentity {
  pid: number
  startedAt: string
}

/** The identity of a running process. Undefined for an unused id and for a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid)
  return !stat || stat.state === 'Z' ? undefined : { pid, startedAt: `${readBootId()}:${stat.startTicks}` }
}

/** Whether exactly this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt
}

/** Sends a signal to exactly this process. With `group`, to the process group that it leads. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals, { group = false } = {}): void {
  if (!isRunning(identity)) return
  try {
    process.kill(group ? -identity.pid : identity.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
