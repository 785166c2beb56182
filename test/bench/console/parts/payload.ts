import type { Part } from '../part.ts'
import { nameTimed, visit, type Timed } from '../visit.ts'

/** A call whose output is 20 MB of JSON: on its own page, and beside the table. */
export const payload: Part = {
  prepare: async ({ browser, cookie, data }) => {
    const address = await data.payload()
    const [calls, id] = [address.slice(0, address.lastIndexOf('/')), address.slice(address.lastIndexOf('/') + 1)]
    const row = 'a row of a large answer'
    return async (slowdown) => {
      const measure = (place: string, selector: string) =>
        visit(browser, { slowdown, cookie }, async (page) => {
          await page.open(calls, { selector: '[role=cell] button', text: 'large' })
          let open: Timed | undefined
          // As a link in the page does it.
          const go = `history.pushState({}, '', ${JSON.stringify(place)})`
          const task = await page.readMaxTask(async () => (open = await page.act(go, { selector, text: row })))
          return { open: open!, task }
        })
      const own = await measure(address, 'section[aria-label=Call] li')
      const peek = await measure(`${calls}?peek=${id}`, 'aside')
      return {
        ...nameTimed('payload_open', own.open),
        ...nameTimed('payload_task', own.task),
        ...nameTimed('payload_peek', peek.open),
        ...nameTimed('payload_peek_task', peek.task),
      }
    }
  },
}
