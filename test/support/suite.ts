import type { Outcome } from './reports.ts'

export interface Suite {
  name: string
  /** Whether vitest runs it, which can choose its files by their imports. */
  isVitest?: boolean
  run: (context: SuiteContext) => Promise<Outcome>
}

export interface SuiteContext {
  /** The prefix of the suite's lines. */
  name: string
  /** A folder for reports. */
  reports: string
  /** Only the files that import what has changed since this commit. */
  changedSince?: string
}

/** The results and the time of a suite, in seconds. */
export interface FinishedSuite {
  suite: Suite
  seconds: number
  outcome: Outcome
}
