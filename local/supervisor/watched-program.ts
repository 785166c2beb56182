import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../lib/log.ts'
import { childEnvironment } from '../config.ts'
import { identifyProcess, signalProcess, type ProcessIdentity } from '../stack/processes/process-identity.ts'
import type { ProgramSpec } from '../stack/programs/program-spec.ts'
import type { ProgramRecord } from '../stack/processes/supervisor-record.ts'
import { restartDelayMs } from './backoff.ts'
import { openLog } from './log-file.ts'
import { isReady } from './readiness.ts'

export interface SupervisorContext {
  log: Logger
  logFolder: string
  /** Variables for every program. */
  mark: Record<string, string>
  onChange: () => void
}

const pollMs = 100
const rememberedRuns = 20

/** A program of the stack. It is restarted whenever it ends, until it is stopped. */
export class WatchedProgram {
  readonly spec: ProgramSpec
  readonly record: ProgramRecord = { ready: false, starts: 0 }
  readonly #surroundings: SupervisorContext
  readonly #stop = new AbortController()
  readonly #runsMs: number[] = []
  #running: Promise<void> | undefined

  constructor(spec: ProgramSpec, surroundings: SupervisorContext) {
    this.spec = spec
    this.#surroundings = surroundings
  }

  /** Starts the program when the programs that it needs are ready, and keeps it running. */
  start(needed: readonly WatchedProgram[]): void {
    this.#running = this.#keepRunning(needed)
  }

  /** Stops the program permanently. After its timeout, it is killed. */
  async stop(): Promise<void> {
    this.#stop.abort()
    const { process: identity } = this.record
    if (identity) {
      signalProcess(identity, this.spec.stopSignal)
      const enforce = setTimeout(() => {
        this.#surroundings.log.warn({ program: this.spec.name }, 'program does not stop, killed')
        signalProcess(identity, 'SIGKILL', { group: true })
      }, this.spec.stopTimeoutMs)
      await this.#running
      clearTimeout(enforce)
    }
    await this.#running
  }

  async #keepRunning(needed: readonly WatchedProgram[]): Promise<void> {
    while (!this.#stopped && !needed.every((program) => program.record.ready)) await this.#pause(pollMs)
    while (!this.#stopped) {
      const startedAt = Date.now()
      await this.#runOnce()
      if (this.#stopped) return
      this.#runsMs.push(Date.now() - startedAt)
      if (this.#runsMs.length > rememberedRuns) this.#runsMs.shift()
      await this.#pause(restartDelayMs(this.#runsMs))
    }
  }

  async #runOnce(): Promise<void> {
    const { log } = this.#surroundings
    const { name } = this.spec
    try {
      const child = this.#spawn()
      const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
      const identity = child.pid === undefined ? undefined : identifyProcess(child.pid)
      this.#record({ ...(identity ? { process: identity } : {}), ready: false, starts: this.record.starts + 1 })
      log.info({ program: name, pid: child.pid }, 'program started')
      if (identity) void this.#watchReadiness(identity)
      const [code, signal] = await ended
      if (!this.#stopped) log.warn({ program: name, code, signal }, 'program ended')
    } catch (error) {
      log.error({ program: name, error }, 'program does not start')
    }
    delete this.record.process
    this.#record({ ready: false })
  }

  #spawn(): ChildProcess {
    const { command, args, cwd, env, user, name } = this.spec
    const { logFolder, mark } = this.#surroundings
    const output = openLog(logFolder, name)
    try {
      const stdio = ['ignore', output, output] as const
      const environment = childEnvironment({ ...env, ...mark })
      return spawn(command, args, { cwd, env: environment, stdio: [...stdio], detached: true, ...user })
    } finally {
      closeSync(output)
    }
  }

  async #watchReadiness(identity: ProcessIdentity): Promise<void> {
    const isCurrent = () => this.record.process === identity && !this.#stopped
    while (isCurrent() && !this.record.ready) {
      if ((await isReady(this.spec.ready)) && isCurrent()) this.#record({ ready: true })
      else await this.#pause(pollMs)
    }
  }

  #record(change: Partial<ProgramRecord>): void {
    Object.assign(this.record, change)
    this.#surroundings.onChange()
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}
