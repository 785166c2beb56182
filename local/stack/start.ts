import { spawn } from 'node:child_process'
import { closeSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { childEnvironment, type LocalConfig } from '../config.ts'
import { stackMark } from '../preflight/marked-processes.mjs'
import { Interrupted, UserError } from '../user-error.ts'
import { openLog } from '../supervisor/log-file.ts'
import { layoutOf, type Layout } from './layout.ts'
import { endLeftovers } from './processes/leftovers.ts'
import { prepareStack, type StartRequest } from './prepare.ts'
import { identifyProcess, isRunning, type ProcessIdentity } from './processes/process-identity.ts'
import { readSettings, type StackSettings } from './settings.ts'
import { areAllReady, readSupervisorRecord, type SupervisorRecord } from './processes/supervisor-record.ts'

const readyTimeoutMs = 120_000
const pollMs = 100
/** A program that was started this often without becoming ready has a permanent fault. */
const maxStarts = 6

/**
 * Starts the programs of a stack under its supervisor: Postgres, the control plane and the node agent. Returns when all
 * are ready. It first ends the remains of a crashed start. If it throws, the caller must call `stopMachinery`.
 */
export async function startMachinery(request: StartRequest): Promise<StackSettings> {
  const { stateFolder, phase, signal } = request
  const layout = layoutOf(stateFolder)
  phase.update('checking for remains of an earlier start')
  await endLeftovers(layout)
  const settings = await prepareStack(request)
  const supervisor = spawnSupervisor(request.config, layout)
  await waitUntilReady(layout, supervisor, { phase, signal })
  return settings
}

/** Waits for programs that another process has started. */
export async function joinMachinery(
  { stateFolder, phase, signal }: Pick<StartRequest, 'stateFolder' | 'phase' | 'signal'>,
  { supervisor }: SupervisorRecord,
): Promise<StackSettings> {
  await waitUntilReady(layoutOf(stateFolder), supervisor, { phase, signal })
  return readSettings(stateFolder)!
}

function spawnSupervisor(config: LocalConfig, layout: Layout): ProcessIdentity {
  const output = openLog(layout.logs, 'supervisor')
  try {
    const program = path.join(config.repository, 'local', 'supervisor.ts')
    const child = spawn(process.execPath, [program, layout.root], {
      cwd: config.repository,
      env: childEnvironment({ [stackMark]: layout.root }),
      detached: true,
      stdio: ['ignore', output, output],
    })
    child.unref()
    const identity = child.pid === undefined ? undefined : identifyProcess(child.pid)
    if (!identity) throw new Error('the supervisor did not start')
    return identity
  } finally {
    closeSync(output)
  }
}

async function waitUntilReady(
  layout: Layout,
  supervisor: ProcessIdentity,
  { phase, signal }: Pick<StartRequest, 'phase' | 'signal'>,
): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs
  for (;;) {
    if (signal.aborted) throw new Interrupted()
    const record = readSupervisorRecord(layout)
    const isCurrent = record?.supervisor.pid === supervisor.pid
    if (isCurrent && areAllReady(record)) return
    if (!isRunning(supervisor)) throw new UserError(describeEnd(layout))
    if (isCurrent) failOnCrashLoop(layout, record)
    if (Date.now() > deadline) throw new UserError(describeFailure(layout, missingFrom(record)[0] ?? 'supervisor'))
    phase.update(`waiting for ${missingFrom(record).join(', ')}`)
    await delay(pollMs)
  }
}

function missingFrom(record: SupervisorRecord | undefined): string[] {
  const programs = Object.entries(record?.programs ?? {})
  return programs.filter(([, { ready }]) => !ready).map(([name]) => name)
}

function failOnCrashLoop(layout: Layout, { programs }: SupervisorRecord): void {
  const hopeless = Object.entries(programs).find(([, { ready, starts }]) => !ready && starts >= maxStarts)
  if (hopeless) throw new UserError(describeFailure(layout, hopeless[0]))
}

function describeEnd(layout: Layout): string {
  return `${lastLines(layout, 'supervisor')}\nThe stack was stopped while it was starting. Run \`npm run up\` again.`
}

function describeFailure(layout: Layout, name: string): string {
  const logs = `see the end of its log above, and all of it in ${layout.logs}`
  return `${lastLines(layout, name)}\n${name} does not start; ${logs}.`
}

function lastLines(layout: Layout, name: string): string {
  try {
    return readFileSync(path.join(layout.logs, `${name}.log`), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(-15)
      .join('\n')
  } catch {
    return ''
  }
}
