import { readFileSync } from 'node:fs'

/** A process for certain: its id, and when it started (boot and clock ticks), because ids are used again. */
export interface ProcessIdentity {
  pid: number
  startedAt: string
}

/** The identity of a running process; undefined when none has this id, or it is only waiting to be reaped. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return stat.state === 'Z' ? undefined : { pid, startedAt: `${bootId()}:${stat.startTicks}` }
  } catch {
    return undefined
  }
}

/** Whether exactly this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt
}

/** Sends a signal to exactly this process, or with `group` to the process group that it leads. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals, { group = false } = {}): void {
  if (!isRunning(identity)) return
  try {
    process.kill(group ? -identity.pid : identity.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** State and start time from `/proc/PID/stat`, whose second field (the name) may hold blanks and brackets. */
export function parseStat(text: string): { state: string; startTicks: string } {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0]!, startTicks: fields[19]! }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}
