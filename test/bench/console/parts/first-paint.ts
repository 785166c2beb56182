import type { Figures, Part } from '../part.ts'
import { nameTimed, visit } from '../visit.ts'

/** A new browser opens the start page: ours, and that of Arize Phoenix. */
export const firstPaint: Part = {
  prepare: async ({ server, browser, cookie, phoenix }) => {
    return async (slowdown): Promise<Figures> => {
      const ours = await visit(browser, { slowdown, cookie }, async (page) => {
        const content = await page.open(`${server.url}/`, { selector: '#content h1' })
        return { first_paint_ms: await page.readFirstPaint(), ...nameTimed('start_page', content) }
      })
      if (phoenix === undefined) return ours
      const theirs = await visit(browser, { slowdown }, async (page) => {
        await page.open(`${phoenix}/`, { selector: 'body *' })
        return { phoenix_first_paint_ms: await page.readFirstPaint() }
      })
      return { ...ours, ...theirs }
    }
  },
}
