import { chromium } from 'playwright-core'
import { buildConsole } from '../../console/build.ts'
import { findLaunchOptions } from '../support/chromium.ts'
import { findFreePort } from '../support/free-port.ts'
import { logIn } from '../support/log-in.ts'
import { withBenchServer } from './bench-server.ts'
import { createData } from './console/data.ts'
import { live, viewers } from './console/live.ts'
import {
  charts,
  clicks,
  firstPaint,
  payload,
  table,
  trace,
  weights,
  type ConsoleBench,
  type Part,
} from './console/pages.ts'
import { atMost, defineBench, medians, takeTurns, type Figures, type Goal } from './harness.ts'
import { withPhoenix } from './tracing/phoenix.ts'

const partsByName: Record<string, Part> = {
  weights,
  viewers,
  trace,
  payload,
  charts,
  live,
  table,
  clicks,
  'first-paint': firstPaint,
}
/** No page's processor matters to them. */
const once = new Set(['weights', 'viewers'])

const goals: Record<string, Goal> = {
  shell_gzip_kb: atMost(102),
  chunk_gzip_kb: atMost(40),
  first_paint_ms: atMost(300),
  x4_first_paint_ms: atMost(1_000),
  click_p95_ms: atMost(100),
  x4_click_p95_ms: atMost(200),
  table_click_ms: atMost(400),
  table_frame_ms: atMost(100),
  table_heap_mb: atMost(80),
  trace_click_ms: atMost(500),
  charts_click_ms: atMost(1_000),
  charts_lost_spikes: atMost(0),
  payload_task_ms: atMost(100),
  payload_peek_task_ms: atMost(100),
  event_to_pixel_p95_ms: atMost(1_000),
  viewer_heap_kb: atMost(50),
}

/**
 * The built console in a real browser, on a real stack, with much data: in a page with all of a processor, and in one with a
 * quarter of it (`x4_`). Times are by the clock; `_cpu_ms` is the processor time of the page's main thread, which other work
 * on the machine does not change. Arize Phoenix runs beside it while the first paint is measured.
 */
export const consoleBench = defineBench({
  stack: 'control',
  counts: { rounds: 5 },
  parts: Object.keys(partsByName),
  goals,
  measure: async ({ stack, counts, parts }) => {
    await buildConsole()
    const inspector = `127.0.0.1:${await findFreePort()}`
    const browser = await chromium.launch(await findLaunchOptions())
    const options = { nodeOptions: [`--inspect=${inspector}`], env: { TRAINYARD_DRAIN_SECONDS: '1' } }
    try {
      return await withBenchServer(
        stack,
        async (server) => {
          const cookie = await logIn(server.url, server.apiKey)
          const bench: ConsoleBench = { server, data: createData(server), inspector, browser, cookie }
          const figures: Figures = {}
          for (const name of parts) {
            const run = (phoenix?: string) =>
              measurePart(name, { ...bench, ...(phoenix && { phoenix }) }, counts.rounds)
            const isBeside = partsByName[name] === firstPaint
            Object.assign(figures, isBeside ? await withPhoenix(stack.databaseUrl, ({ url }) => run(url)) : await run())
          }
          return figures
        },
        options,
      )
    } finally {
      await browser.close()
    }
  },
})

async function measurePart(name: string, bench: ConsoleBench, rounds: number): Promise<Figures> {
  const measure = (slowdown: number) => () => partsByName[name]!(bench, slowdown)
  if (once.has(name)) return measure(1)()
  const measured = await takeTurns(rounds, { [name]: measure(1), [`${name}, x4`]: measure(4) })
  return { ...medians(measured[name]!), ...medians(measured[`${name}, x4`]!, 'x4_') }
}
