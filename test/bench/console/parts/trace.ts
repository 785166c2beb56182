import { spanCount } from '../data/bench-data.ts'
import type { Part } from '../part.ts'
import { nameTimed, visit, type Timed } from '../visit.ts'

const rows = '[role=treegrid] [role=row]'

/** A trace of 10,000 spans. */
export const trace: Part = {
  prepare: async ({ browser, cookie, data }) => {
    const address = await data.trace()
    const [calls, root] = [address.slice(0, address.lastIndexOf('/')), address.slice(address.lastIndexOf('/') + 1)]
    const tree = { selector: `${rows}[aria-rowindex="2"]`, heading: 'root' }
    return async (slowdown) => {
      const open = await visit(browser, { slowdown, cookie }, (page) => page.open(address, tree))
      return visit(browser, { slowdown, cookie }, async (page) => {
        await page.open(`${calls}?peek=${root}`, { selector: 'aside header a' })
        let click: Timed | undefined
        const task = await page.readMaxTask(async () => (click = await page.click('aside header a', tree)))
        await page.page.getByText(`${new Intl.NumberFormat('en').format(spanCount)} calls in`).waitFor()
        // The facts about a span come with its payload, and name its op.
        const cell = page.page.locator(`${rows}[aria-rowindex="4"] [role=gridcell]`).first()
        const [op] = /op \d+/.exec(await cell.innerText())!
        const payload = { selector: 'section[aria-label=Call] dd', text: op, heading: op }
        const select = await page.click(`${rows}[aria-rowindex="4"]`, payload)
        return {
          ...nameTimed('trace_open', open),
          ...nameTimed('trace_click', click!),
          ...nameTimed('trace_task', task),
          ...nameTimed('trace_select', select),
        }
      })
    }
  },
}
