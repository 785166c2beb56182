import { addBaseModel } from '../../api-data.ts'
import type { BenchServer } from '../../bench-server.ts'
import { fillProjects } from '../../tracing/fill.ts'
import { fillRun } from './run.ts'
import { sendLargeCall, sendWideTrace } from './traces.ts'

export const callCount = 100_000
export const spanCount = 10_000
const payloadBytes = 20_000_000

/** The data of the pages. Each is made when a part first asks for it. */
export class BenchData {
  readonly #server: BenchServer
  #calls: Promise<string> | undefined
  #run: Promise<string> | undefined
  #trace: Promise<string> | undefined
  #payload: Promise<string> | undefined
  #baseModel: Promise<void> | undefined

  constructor(server: BenchServer) {
    this.#server = server
  }

  /** Returns the address of a project with 100,000 calls. */
  calls(): Promise<string> {
    const fill = async () => {
      await fillProjects(this.#server, { calls: callCount })
      return this.#addressOf('calls')
    }
    return (this.#calls ??= fill())
  }

  /** Returns the address of a run with a million gradient steps. It is the only one of its project. */
  run(): Promise<string> {
    const fill = async () => {
      const { pool, entity } = this.#server
      await this.baseModel()
      await fillRun(pool, { entity, project: 'runs', name: 'million' })
      return `${this.#addressOf('runs')}/runs/million`
    }
    return (this.#run ??= fill())
  }

  /** Returns the address of the first call of a trace of 10,000 calls. */
  trace(): Promise<string> {
    const fill = async () =>
      `${this.#addressOf('trace')}/weave/calls/${await sendWideTrace(this.#server, 'trace', spanCount)}`
    return (this.#trace ??= fill())
  }

  /** Returns the address of a call with an output of 20 MB. It is the only one of its project. */
  payload(): Promise<string> {
    const fill = async () =>
      `${this.#addressOf('payload')}/weave/calls/${await sendLargeCall(this.#server, 'payload', payloadBytes)}`
    return (this.#payload ??= fill())
  }

  /** Makes the base model of all runs known. */
  baseModel(): Promise<void> {
    const { pool, namespace } = this.#server
    return (this.#baseModel ??= addBaseModel(pool, namespace))
  }

  #addressOf(project: string): string {
    return `${this.#server.url}/${this.#server.entity}/${project}`
  }
}
