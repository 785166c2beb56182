import type { Workload } from '../workloads.ts'

/** A server between a client and the engine. */
export interface Contestant {
  name: string
  host: string
  port: number
  apiKey: string
  /** The model names that its clients request in turn. */
  models: string[]
  /** The ids of all its processes, including those of Postgres, and of Postgres alone. */
  listProcesses: () => { own: number[]; postgres: number[] }
  /** The workloads that it is measured with, and the divisor of its number of requests. 1 for the full number. */
  workloads: readonly Workload['name'][]
  share: number
}

/** The address of the mock engine. */
export interface EngineAddress {
  host: string
  port: number
}
