import { mkdirSync, rmSync } from 'node:fs'
import { createLogger } from '../lib/log.ts'
import { onShutdown } from '../lib/shutdown.ts'
import { stackMark } from './preflight/marked-processes.mjs'
import { readJson } from './stack/json-file.ts'
import { layoutOf } from './stack/layout.ts'
import { endLeftovers } from './stack/processes/leftovers.ts'
import { identifyProcess } from './stack/processes/process-identity.ts'
import type { ProgramSpec } from './stack/programs/program-spec.ts'
import { writeSupervisorRecord } from './stack/processes/supervisor-record.ts'
import { WatchedProgram } from './supervisor/watched-program.ts'

// One process for each stack, detached from the terminal. It starts the programs of `programs.json`, and restarts any
// that ends. SIGTERM stops them in reverse order, with all processes that they left.

const stopTimeoutMs = 30_000

function main(stateFolder: string): void {
  const layout = layoutOf(stateFolder)
  const log = createLogger('supervisor')
  const specs = readJson<ProgramSpec[]>(layout.programs) ?? []
  mkdirSync(layout.logs, { recursive: true })

  const self = identifyProcess(process.pid)!
  const writeRecord = () => {
    const records = programs.map(({ spec, record }) => [spec.name, record] as const)
    try {
      writeSupervisorRecord(layout, { supervisor: self, programs: Object.fromEntries(records) })
    } catch (error) {
      // A full disk must not end the supervisor. The next change is written again.
      log.error({ error }, 'writing the record failed')
    }
  }
  const surroundings = { log, logFolder: layout.logs, mark: { [stackMark]: stateFolder }, onChange: writeRecord }
  const programs = specs.map((spec) => new WatchedProgram(spec, surroundings))
  writeRecord()
  for (const program of programs) {
    program.start(programs.filter(({ spec }) => program.spec.after.includes(spec.name)))
  }
  onShutdown(log, () => stopAll(programs).then(() => cleanUp(stateFolder)), stopTimeoutMs)
  process.on('SIGHUP', () => {})
}

async function stopAll(programs: readonly WatchedProgram[]): Promise<void> {
  for (const program of programs.toReversed()) await program.stop()
}

async function cleanUp(stateFolder: string): Promise<void> {
  const layout = layoutOf(stateFolder)
  await endLeftovers(layout)
  rmSync(layout.supervisor, { force: true })
}

main(process.argv[2]!)
