import type { Deps } from '../deps.ts'
import type { Pool } from '../../db/pool.ts'
import type { CallWriter } from './calls/writer.ts'
import type { Projects } from './projects.ts'

/** What requests of the tracing group are answered with. */
export interface TraceDeps extends Pick<Deps, 'artifacts' | 'config' | 'engines' | 'log'> {
  /** Of traces alone. */
  pool: Pool
  projects: Projects
  calls: CallWriter
  /** What the rest of the interface is answered with, for completions. */
  main: Deps
}
