import type { LocalConfig } from '../config.ts'
import type { Board } from '../terminal/board.ts'

/** The dependencies of the install phases. */
export interface InstallContext {
  config: LocalConfig
  board: Board
  signal: AbortSignal
}
