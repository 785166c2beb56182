import { weighConsole } from '../../../support/console-chunks.ts'
import type { Part } from '../part.ts'

/** What a browser loads: of every page, and most for a single screen. */
export const weights: Part = {
  isOnce: true,
  prepare: async () => {
    const { shell, screens } = await weighConsole()
    const chunk = Math.max(...Object.values(screens))
    return async () => ({ shell_gzip_kb: shell / 1_000, chunk_gzip_kb: chunk / 1_000 })
  },
}
