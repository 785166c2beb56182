import { readdirSync, readFileSync } from 'node:fs'
import { readStat, type ProcessStat } from '../../process-stat.ts'

/** A process. Its start, in clock ticks since boot, distinguishes it from a later one with the same id. */
export type ProcessId = Pick<ProcessStat, 'pid' | 'startTicks'>

/** Whether this very process lives; one that ended and only waits to be reaped does not. */
export function isAlive(id: ProcessId): boolean {
  const now = readStat(id.pid)
  return now !== undefined && now.startTicks === id.startTicks && now.state !== 'Z' && now.state !== 'X'
}

/** Signals one process, if it is still the one that is meant. */
export function signalProcess(id: ProcessId, signal: NodeJS.Signals): void {
  if (isAlive(id)) sendSignal(id.pid, signal)
}

/**
 * Kills all that is left of the process group that a process leads or led. A group keeps its number taken, so a leader
 * with another start means that the group has ended and the number is somebody else's.
 */
export function killGroup(leader: ProcessId): void {
  const now = readStat(leader.pid)
  if (now && now.startTicks !== leader.startTicks) return
  sendSignal(-leader.pid, 'SIGKILL')
}

/** Kills every process that was started with this variable, whatever session it has moved to since. */
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
