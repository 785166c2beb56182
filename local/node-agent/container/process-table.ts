import { readdirSync, readFileSync } from 'node:fs'
import { readStat, type ProcessStat } from '../../process-stat.ts'

/** A process. Its start time in clock ticks since boot distinguishes it from a later process with the same id. */
export type ProcessId = Pick<ProcessStat, 'pid' | 'startTicks'>

/** Whether exactly this process is alive. A zombie is not alive. */
export function isAlive(id: ProcessId): boolean {
  const now = readStat(id.pid)
  return now !== undefined && now.startTicks === id.startTicks && now.state !== 'Z' && now.state !== 'X'
}

/** Signals a process if it is still the same process. */
export function signalProcess(id: ProcessId, signal: NodeJS.Signals): void {
  if (isAlive(id)) sendSignal(id.pid, signal)
}

/**
 * Kills the process group of a leader, which may have ended. The kernel does not reuse a group's number while the group
 * has processes. So a leader with another start time means that the group has ended and the number belongs to another
 * process.
 */
export function killGroup(leader: ProcessId): void {
  const now = readStat(leader.pid)
  if (now && now.startTicks !== leader.startTicks) return
  sendSignal(-leader.pid, 'SIGKILL')
}

/** Kills every process that was started with this variable, even if it has moved to another session. */
export function killMarked(name: string, value: string): void {
  const mark = `${name}=${value}`
  for (const pid of readdirSync('/proc').map(Number)) {
    if (Number.isInteger(pid) && readEnvironment(pid).includes(mark)) sendSignal(pid, 'SIGKILL')
  }
}

/** Empty for a process of another user, and for one that has ended. */
function readEnvironment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
