import type { Workload } from '../workloads.ts'

/** Something between a client and the engine. */
export interface Contestant {
  name: string
  host: string
  port: number
  apiKey: string
  /** The names that its clients ask for, by turns. */
  models: string[]
  /** All its processes, Postgres' among them, and those that are Postgres'. */
  listProcesses: () => { own: number[]; postgres: number[] }
  /** Which workloads it is measured with, and by how much fewer requests than others; 1 if it takes as many. */
  workloads: readonly Workload['name'][]
  share: number
}

/** Where the mock engine answers. */
export interface EngineAddress {
  host: string
  port: number
}
