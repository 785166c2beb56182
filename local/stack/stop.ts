import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { layoutOf } from './layout.ts'
import { endLeftovers } from './processes/leftovers.ts'
import { isRunning, signalProcess } from './processes/process-identity.ts'
import { findRunningSupervisor } from './processes/supervisor-record.ts'

/** What a stop has ended: the supervised programs, and the number of processes without a supervisor. */
export interface StopReport {
  programs: string[]
  leftovers: number
}

// Slightly longer than the supervisor's own limit.
const stopTimeoutMs = 35_000

/** Stops all processes of a stack, even after a crash. Data stays. */
export async function stopMachinery(stateFolder: string): Promise<StopReport> {
  const layout = layoutOf(stateFolder)
  const record = findRunningSupervisor(layout)
  if (record) {
    signalProcess(record.supervisor, 'SIGTERM')
    const deadline = Date.now() + stopTimeoutMs
    while (isRunning(record.supervisor) && Date.now() < deadline) await delay(50)
    signalProcess(record.supervisor, 'SIGKILL')
  }
  const leftovers = await endLeftovers(layout)
  rmSync(layout.supervisor, { force: true })
  return { programs: Object.keys(record?.programs ?? {}), leftovers }
}
