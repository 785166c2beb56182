import type { Browser } from 'playwright-core'
import type { SessionCookie } from '../../support/log-in.ts'
import type { BenchServer } from '../bench-server.ts'
import type { BenchData } from './data/bench-data.ts'

/** What the parts measure with. */
export interface ConsoleBench {
  server: BenchServer
  data: BenchData
  /** Where the server answers the inspector of Node. */
  inspector: string
  browser: Browser
  cookie: SessionCookie
  /** The address of Arize Phoenix. Undefined without it. */
  phoenix: string | undefined
}

export type Figures = Record<string, number>

/** A part of the benchmark. */
export interface Part {
  /** Prepares data. The returned function measures once, in a page whose processor is so many times slower. */
  prepare: (bench: ConsoleBench) => Promise<(slowdown: number) => Promise<Figures>>
  /** A part that no page's processor matters to is measured once. */
  isOnce?: true
}
