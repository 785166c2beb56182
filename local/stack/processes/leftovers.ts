import { setTimeout as delay } from 'node:timers/promises'
import { listMarkedPids } from '../../preflight/marked-processes.mjs'
import type { Layout } from '../layout.ts'
import { identifyProcess, isRunning, signalProcess, type ProcessIdentity } from './process-identity.ts'
import { readSupervisorRecord } from './supervisor-record.ts'

const graceMs = 5_000

/**
 * Ends what is left of a stack whose supervisor is gone: the programs in its record, and every process that carries the
 * stack's mark.
 *
 * @returns how many processes there were
 */
export async function endLeftovers(layout: Layout): Promise<number> {
  const noted = Object.values(readSupervisorRecord(layout)?.programs ?? {}).flatMap(({ process: it }) => it ?? [])
  const left = [...noted.filter(isRunning), ...findMarked(layout.root)]
  // Postgres' SIGTERM waits for its clients; SIGINT asks the same of everybody else and does not.
  for (const identity of left) signalProcess(identity, 'SIGINT')
  const deadline = Date.now() + graceMs
  while (left.some(isRunning) && Date.now() < deadline) await delay(50)
  for (const identity of left) signalProcess(identity, 'SIGKILL')
  // Processes that were started meanwhile by what is dead now.
  for (const identity of findMarked(layout.root)) signalProcess(identity, 'SIGKILL')
  while (left.some(isRunning)) await delay(20)
  return new Set(left.map(({ pid }) => pid)).size
}

function findMarked(stateFolder: string): ProcessIdentity[] {
  return listMarkedPids(stateFolder).flatMap((pid) => identifyProcess(pid) ?? [])
}
