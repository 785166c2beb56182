import type { Outcome } from './reports.ts'

export interface Suite {
  name: string
  run: (context: SuiteContext) => Promise<Outcome>
}

export interface SuiteContext {
  /** The prefix of the suite's lines. */
  name: string
  /** A folder for reports. */
  reports: string
  /** Only these files, which failed in the suite's first run. */
  files?: string[] | undefined
}

/** The results and the time of a suite, in seconds. */
export interface FinishedSuite {
  suite: Suite
  seconds: number
  outcome: Outcome
}
