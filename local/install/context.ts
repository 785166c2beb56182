import type { LocalConfig } from '../config.ts'
import type { Board } from '../terminal/board.ts'

/** What every install phase works with. */
export interface InstallContext {
  config: LocalConfig
  board: Board
  signal: AbortSignal
}
