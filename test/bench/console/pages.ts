import type { Browser } from 'playwright-core'
import type { SessionCookie } from '../../support/log-in.ts'
import type { BenchServer } from '../bench-server.ts'
import type { Figures } from '../harness.ts'
import { percentile } from '../statistics.ts'
import { callCount, chartedKeys, spanCount, type BenchData } from './data.ts'
import { visit, type Shown, type Visit } from './visit.ts'

/** What the parts measure with. */
export interface ConsoleBench {
  server: BenchServer
  data: BenchData
  browser: Browser
  cookie: SessionCookie
}

/** A part of the benchmark measures once, in a page whose processor is so many times slower. */
export type Part = (bench: ConsoleBench, slowdown: number) => Promise<Figures>

/** A new browser opens the start page. */
export const firstPaint: Part = async ({ server, browser, cookie }, slowdown) =>
  visit(browser, { slowdown, cookie }, async (page) => {
    await page.open(`${server.url}/`, { selector: '#content h1' })
    return { first_paint_ms: await page.ask('probe.readFirstPaint()') }
  })

const [row, jumps] = [(number: number) => `[role=row][aria-rowindex="${number + 2}"] [role=cell] button`, 60]

/** The table of a project with 100,000 calls. */
export const table: Part = async ({ browser, cookie, data }, slowdown) => {
  const project = await data.calls()
  return visit(browser, { slowdown, cookie }, async (page) => {
    await page.open(`${project}/weave/traces`, { selector: row(0), heading: 'Traces' })
    const click = await page.click('text=All calls', { selector: row(0), heading: 'Calls' })
    // Until the calls are counted, the bar of the table is that of its first page.
    await page.act('', { selector: `[role=table][aria-rowcount="${callCount + 1}"]` })
    await page.ask('probe.forget()')
    for (let jump = 0; jump < jumps; jump++)
      await goToRow(page, Math.floor((callCount * ((jump * 37) % jumps)) / jumps))
    const frame = await page.ask<number>('probe.readMaxFrame()')
    return { table_click_ms: click, table_frame_ms: frame, table_heap_mb: await page.readHeapMb() }
  })
}

/** Goes to a row far from the last one, as a person who drags the table's bar. */
function goToRow(page: Visit, number: number): Promise<number> {
  const script = `
    const rows = document.querySelector('[role=table] [role=rowgroup]')
    scrollTo(0, scrollY + rows.getBoundingClientRect().top + (${number} * rows.offsetHeight) / ${callCount})`
  return page.act(script, { selector: row(number + 3) })
}

/** A trace of 10,000 spans. */
export const trace: Part = async ({ browser, cookie, data }, slowdown) => {
  const address = await data.trace()
  const at = address.lastIndexOf('/')
  return visit(browser, { slowdown, cookie }, async (page) => {
    await page.open(`${address.slice(0, at)}?peek=${address.slice(at + 1)}`, { selector: 'aside header a' })
    const tree = { selector: '[role=treegrid] [role=row][aria-rowindex="2"]', heading: 'root' }
    const click = await page.click('aside header a', tree)
    await page.page.getByText(`${new Intl.NumberFormat('en').format(spanCount)} calls in`).waitFor()
    return { trace_click_ms: click }
  })
}

/** A call whose output is 20 MB of JSON: on its own page, and beside the table. */
export const payload: Part = async ({ browser, cookie, data }, slowdown) => {
  const address = await data.payload()
  const at = address.lastIndexOf('/')
  const measure = (target: string, selector: string) =>
    visit(browser, { slowdown, cookie }, async (page) => {
      await page.open(address.slice(0, at), { selector: '[role=cell] button', text: 'large' })
      await page.ask('probe.forget()')
      // As a link in the page does it.
      const go = `history.pushState({}, '', ${JSON.stringify(target)})`
      await page.act(go, { selector, text: 'a row of a large answer' })
      return page.ask<number>('probe.readMaxFrame()')
    })
  return {
    payload_frame_ms: await measure(address, 'section[aria-label=Call] li'),
    payload_peek_frame_ms: await measure(`${address.slice(0, at)}?peek=${address.slice(at + 1)}`, 'aside'),
  }
}

/** The charts of a run with a million gradient steps. */
export const charts: Part = async ({ browser, cookie, data }, slowdown) => {
  const run = await data.run()
  const count = chartedKeys.length
  return visit(browser, { slowdown, cookie, height: 1_600 }, async (page) => {
    await page.open(run, { selector: 'figcaption b', count, drawn: true })
    // By step, a run has a hundred places. By gradient step, its last values are near the millionth.
    const all = { selector: '[role=img][aria-label*="gradient step 999"]', count, drawn: true }
    return { charts_click_ms: await page.click('text="gradient step"', all) }
  })
}

// Below that, the browser does not report an interaction.
const minReportedMs = 16

/** A click, and what it shows. */
type Step = [click: string, shown: Shown]

const linkIn = (navigation: string, name: string) => `nav[aria-label=${navigation}] >> text="${name}"`

/** A way through the screens of a run of a million gradient steps. Its project is called "runs", so texts of links are whole. */
const throughRun: readonly Step[] = [
  [linkIn('Project', 'Runs'), { selector: '[role=cell] a', text: 'million', heading: 'Runs' }],
  ['[role=cell] a', { selector: 'figcaption h2', text: 'reward', heading: 'million' }],
  ['figcaption button', { selector: 'figure td' }],
  ['figcaption button', { selector: 'figure canvas' }],
  ['text="gradient step"', { selector: '[role=img][aria-label*="gradient step 999"]' }],
  [linkIn('Run', 'Jobs'), { selector: 'p, [role=status]', text: '100 jobs' }],
  [linkIn('Run', 'Checkpoints'), { selector: 'h2', text: 'No checkpoints' }],
  [linkIn('Run', 'Charts'), { selector: 'figcaption h2', text: 'reward' }],
  ['text="dark"', { selector: 'html' }],
  ['text="light"', { selector: 'html' }],
  [linkIn('Project', 'Overview'), { selector: 'h2', text: 'Last runs' }],
  [linkIn('Project', 'Playground'), { selector: 'h1', heading: 'Playground' }],
]

/** A way through the screens of a project with 100,000 calls. */
const throughCalls: readonly Step[] = [
  [linkIn('Project', 'Traces'), { selector: '[role=cell] button', heading: 'Traces' }],
  ['text="All calls"', { selector: '[role=cell] button', heading: 'Calls' }],
  ['[role=columnheader] >> text=Latency', { selector: '[aria-sort] button', text: 'Latency' }],
  ['[role=columnheader] >> text=Started', { selector: '[aria-sort] button', text: 'Started' }],
  ['[aria-rowindex="2"] [role=cell] button', { selector: 'aside h2' }],
  ['[aria-rowindex="4"] [role=cell] button', { selector: '[aria-rowindex="4"][data-selected=true]' }],
  ['aside [aria-label=Close]', { selector: 'main:not(:has(aside))' }],
  ['button:has-text("Columns")', { selector: '[popover]:popover-open' }],
  ['[popover]:popover-open label >> nth=0', { selector: '[role=columnheader]' }],
  [linkIn('Entity', 'Usage'), { selector: 'h1', heading: 'Usage' }],
  [linkIn('Entity', 'Settings'), { selector: '[role=table][aria-label=Keys]' }],
  ['text="Limits"', { selector: 'main', text: 'Unfinished jobs' }],
]

/** Clicks through the console. Each click must paint something soon. */
export const clicks: Part = async ({ browser, cookie, data }, slowdown) => {
  const [run, calls] = [await data.run(), await data.calls()]
  const walk = (address: string, steps: readonly Step[]) =>
    visit(browser, { slowdown, cookie }, async (page) => {
      await page.open(address, { selector: '#content h1' })
      for (const [click, shown] of steps) await page.click(click, shown)
      const reported = await page.ask<number[]>('probe.readInteractions()')
      const others = Math.max(0, steps.length - reported.length)
      return [...reported, ...Array.from({ length: others }, () => minReportedMs)]
    })
  const paintsMs = [
    ...(await walk(run.replace(/\/runs\/million$/, ''), throughRun)),
    ...(await walk(calls, throughCalls)),
  ]
  return { click_p95_ms: percentile(paintsMs, 0.95) }
}
