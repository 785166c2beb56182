import { readMemory } from '../inspector.ts'
import type { Part } from '../part.ts'
import { openViewers } from '../viewers.ts'

const count = 50
// Some are opened before: what the first ones load is not theirs.
const earlier = 20

/** What the server keeps for a viewer that follows a project. */
export const viewers: Part = {
  isOnce: true,
  prepare: async ({ server, inspector }) => {
    return async () => {
      const open = (viewersToOpen: number) =>
        openViewers(server, { count: viewersToOpen, project: 'viewed', paths: [] })
      const warmUp = await open(earlier)
      warmUp.close()
      const before = await readMemory(inspector)
      const opened = await open(count)
      const after = await readMemory(inspector)
      opened.close()
      return {
        viewer_heap_kb: (after.heapKb - before.heapKb) / count,
        viewer_rss_kb: (after.rssKb - before.rssKb) / count,
      }
    }
  },
}
