import { percentile } from '../../result.ts'
import { callCount } from '../data/bench-data.ts'
import type { Part } from '../part.ts'
import { nameTimed, visit, type Timed, type Visit } from '../visit.ts'

const jumps = 60
const nameIn = (row: number) => `[role=row][aria-rowindex="${row + 2}"] [role=cell] button`

/** The table of a project with 100,000 calls. */
export const table: Part = {
  prepare: async ({ browser, cookie, data }) => {
    const project = await data.calls()
    const first = { selector: nameIn(0), heading: 'Calls' }
    return async (slowdown) => {
      const open = await visit(browser, { slowdown, cookie }, (page) => page.open(`${project}/weave/calls`, first))
      return visit(browser, { slowdown, cookie }, async (page) => {
        await page.open(`${project}/weave/traces`, { selector: nameIn(0), heading: 'Traces' })
        const click = await page.click('text=All calls', first)
        // Until the calls are counted, the bar of the table is that of its first page.
        await page.act('', { selector: `[role=table][aria-rowcount="${callCount + 1}"]` })
        await page.forget()
        const jumpsMs: number[] = []
        const task = await page.readMaxTask(async () => {
          for (let jump = 0; jump < jumps; jump++) jumpsMs.push((await goToRow(page, jump)).ms)
        })
        return {
          ...nameTimed('table_open', open),
          ...nameTimed('table_click', click),
          table_frame_ms: await page.readMaxFrame(),
          ...nameTimed('table_task', task),
          table_jump_p95_ms: percentile(jumpsMs, 0.95),
          table_heap_mb: await page.readHeapMb(),
        }
      })
    }
  },
}

/** Goes to a row far from the last one, as a person who drags the table's bar. */
function goToRow(page: Visit, jump: number): Promise<Timed> {
  const row = Math.floor((callCount * ((jump * 37) % jumps)) / jumps)
  const script = `
    const rows = document.querySelector('[role=table] [role=rowgroup]')
    scrollTo(0, scrollY + rows.getBoundingClientRect().top + (${row} * rows.offsetHeight) / ${callCount})`
  return page.act(script, { selector: nameIn(row + 3) })
}
