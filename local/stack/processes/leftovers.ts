import { setTimeout as delay } from 'node:timers/promises'
import { listMarkedPids } from '../../preflight/marked-processes.mjs'
import type { Layout } from '../layout.ts'
import { identifyProcess, isRunning, signalProcess, type ProcessIdentity } from './process-identity.ts'
import { readSupervisorRecord } from './supervisor-record.ts'

const graceMs = 5_000

/**
 * Ends the remaining processes of a stack without a supervisor: the programs in its record, and every process with the
 * stack's mark.
 *
 * @returns the number of processes
 */
export async function endLeftovers(layout: Layout): Promise<number> {
  const noted = Object.values(readSupervisorRecord(layout)?.programs ?? {}).flatMap(({ process: it }) => it ?? [])
  const left = [...noted.filter(isRunning), ...findMarked(layout.root)]
  // On SIGTERM, Postgres waits for its clients. On SIGINT it does not, and other programs treat both alike.
  for (const identity of left) signalProcess(identity, 'SIGINT')
  const deadline = Date.now() + graceMs
  while (left.some(isRunning) && Date.now() < deadline) await delay(50)
  for (const identity of left) signalProcess(identity, 'SIGKILL')
  // These processes were started in the meantime, by processes that are dead now.
  for (const identity of findMarked(layout.root)) signalProcess(identity, 'SIGKILL')
  while (left.some(isRunning)) await delay(20)
  return new Set(left.map(({ pid }) => pid)).size
}

function findMarked(stateFolder: string): ProcessIdentity[] {
  return listMarkedPids(stateFolder).flatMap((pid) => identifyProcess(pid) ?? [])
}
