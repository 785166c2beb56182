import type { Deps } from '../deps.ts'
import type { Pool } from '../../db/pool.ts'
import type { CallWriter } from './calls/writer.ts'
import type { DefaultPrices } from './costs/default-prices.ts'
import type { ValueChecker } from './feedback/value-checker.ts'
import type { StreamSemaphore } from './stream-semaphore.ts'
import type { ValueInspector } from './objects/value-inspector.ts'
import type { SpanBuilder } from './otel/span-builder.ts'
import type { Projects } from './projects.ts'

/** What requests of the tracing group are answered with. */
export interface TraceDeps extends Pick<Deps, 'artifacts' | 'config' | 'log' | 'memory' | 'storage'> {
  /** Of traces alone. */
  pool: Pool
  projects: Projects
  /** Answers that hold a connection of the pool. */
  streams: StreamSemaphore
  calls: CallWriter
  /** Of models, where a project has none of its own. */
  prices: DefaultPrices
  /** Of annotations. */
  values: ValueChecker
  /** Of objects and rows. */
  inspector: ValueInspector
  spans: SpanBuilder
  /** What the rest of the interface is answered with, for completions. */
  main: Deps
}
