import { chromium } from 'playwright-core'
import { buildConsole } from '../../console/build.ts'
import { findLaunchOptions } from '../support/chromium.ts'
import { logIn } from '../support/log-in.ts'
import { withBenchServer } from './bench-server.ts'
import { createData } from './console/data.ts'
import { live } from './console/live.ts'
import { charts, clicks, firstPaint, payload, table, trace, type ConsoleBench, type Part } from './console/pages.ts'
import { atMost, defineBench, medians, takeTurns, type Figures, type Goal } from './harness.ts'

const partsByName: Record<string, Part> = {
  trace,
  payload,
  charts,
  live,
  table,
  clicks,
  'first-paint': firstPaint,
}
const goals: Record<string, Goal> = {
  first_paint_ms: atMost(300),
  x4_first_paint_ms: atMost(1_000),
  click_p95_ms: atMost(100),
  x4_click_p95_ms: atMost(200),
  table_click_ms: atMost(400),
  table_frame_ms: atMost(100),
  table_heap_mb: atMost(80),
  trace_click_ms: atMost(500),
  charts_click_ms: atMost(1_000),
  payload_frame_ms: atMost(100),
  payload_peek_frame_ms: atMost(100),
  event_to_pixel_p95_ms: atMost(1_000),
}

/**
 * The built console in a real browser, on a real stack, with much data: in a page with all of a processor, and in one with a
 * quarter of it (`x4_`). Times are by the clock.
 */
export const consoleBench = defineBench({
  stack: 'control',
  counts: { rounds: 5 },
  parts: Object.keys(partsByName),
  goals,
  measure: async ({ stack, counts, parts }) => {
    await buildConsole()
    const browser = await chromium.launch(await findLaunchOptions())
    try {
      return await withBenchServer(stack, async (server) => {
        const cookie = await logIn(server.url, server.apiKey)
        const bench: ConsoleBench = { server, data: createData(server), browser, cookie }
        const figures: Figures = {}
        for (const name of parts) Object.assign(figures, await measurePart(name, bench, counts.rounds))
        return figures
      })
    } finally {
      await browser.close()
    }
  },
})

async function measurePart(name: string, bench: ConsoleBench, rounds: number): Promise<Figures> {
  const measure = (slowdown: number) => () => partsByName[name]!(bench, slowdown)
  const measured = await takeTurns(rounds, { [name]: measure(1), [`${name}, x4`]: measure(4) })
  return { ...medians(measured[name]!), ...medians(measured[`${name}, x4`]!, 'x4_') }
}
