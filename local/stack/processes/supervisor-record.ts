import { readJson, replaceJson } from '../json-file.ts'
import type { Layout } from '../layout.ts'
import { isRunning, type ProcessIdentity } from './process-identity.ts'

/** The supervisor's record of one program. */
export interface ProgramRecord {
  process?: ProcessIdentity
  ready: boolean
  /** The number of its starts. */
  starts: number
}

/** The supervisor writes this record to the state folder. Other processes read it. */
export interface SupervisorRecord {
  supervisor: ProcessIdentity
  programs: Record<string, ProgramRecord>
}

export function readSupervisorRecord(layout: Layout): SupervisorRecord | undefined {
  return readJson<SupervisorRecord>(layout.supervisor)
}

export function writeSupervisorRecord(layout: Layout, record: SupervisorRecord): void {
  replaceJson(layout.supervisor, record)
}

/** The record of the supervisor, if it runs. */
export function findRunningSupervisor(layout: Layout): SupervisorRecord | undefined {
  const record = readSupervisorRecord(layout)
  return record && isRunning(record.supervisor) ? record : undefined
}

/** Whether every program of the stack runs and is ready. */
export function areAllReady({ programs }: SupervisorRecord): boolean {
  return Object.values(programs).every((program) => program.ready)
}
