import type { Browser, Page } from 'playwright-core'
import { weighConsole } from '../../support/console-chunks.ts'
import type { SessionCookie } from '../../support/log-in.ts'
import type { BenchServer } from '../bench-server.ts'
import type { Figures } from '../harness.ts'
import { percentile } from '../statistics.ts'
import { callCount, chartedKeys, spanCount, spikesOf, type BenchData } from './data.ts'
import { nameTimed, visit, type Shown, type Timed, type Visit } from './visit.ts'

/** What the parts measure with. */
export interface ConsoleBench {
  server: BenchServer
  data: BenchData
  /** Where the server answers the inspector of Node. */
  inspector: string
  browser: Browser
  cookie: SessionCookie
  /** The address of Arize Phoenix, while the first paint is measured. */
  phoenix?: string
}

/** A part of the benchmark measures once, in a page whose processor is so many times slower. */
export type Part = (bench: ConsoleBench, slowdown: number) => Promise<Figures>

/** What a browser loads: of every page, and most for a single screen. */
export const weights: Part = async () => {
  const { shell, screens } = await weighConsole()
  return { shell_gzip_kb: shell / 1_000, chunk_gzip_kb: Math.max(...Object.values(screens)) / 1_000 }
}

/** A new browser opens the start page: ours, and that of Arize Phoenix. */
export const firstPaint: Part = async ({ server, browser, cookie, phoenix }, slowdown) => {
  const readOf = (address: string, selector: string) =>
    visit(browser, { slowdown, cookie }, async (page) => {
      await page.open(address, { selector })
      return page.readFirstPaint()
    })
  const ours = await readOf(`${server.url}/`, '#content h1')
  if (phoenix === undefined) return { first_paint_ms: ours }
  return { first_paint_ms: ours, phoenix_first_paint_ms: await readOf(`${phoenix}/`, 'body *') }
}

const [row, jumps] = [(number: number) => `[role=row][aria-rowindex="${number + 2}"] [role=cell] button`, 60]

/** The table of a project with 100,000 calls. */
export const table: Part = async ({ browser, cookie, data }, slowdown) => {
  const project = await data.calls()
  return visit(browser, { slowdown, cookie }, async (page) => {
    await page.open(`${project}/weave/traces`, { selector: row(0), heading: 'Traces' })
    const click = await page.click('text=All calls', { selector: row(0), heading: 'Calls' })
    // Until the calls are counted, the bar of the table is that of its first page.
    await page.act('', { selector: `[role=table][aria-rowcount="${callCount + 1}"]` })
    await page.forget()
    for (let jump = 0; jump < jumps; jump++)
      await goToRow(page, Math.floor((callCount * ((jump * 37) % jumps)) / jumps))
    return {
      ...nameTimed('table_click', click),
      table_frame_ms: await page.readMaxFrame(),
      table_heap_mb: await page.readHeapMb(),
    }
  })
}

/** Goes to a row far from the last one, as a person who drags the table's bar. */
function goToRow(page: Visit, number: number): Promise<Timed> {
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
    return nameTimed('trace_click', click)
  })
}

/** A call whose output is 20 MB of JSON: on its own page, and beside the table. */
export const payload: Part = async ({ browser, cookie, data }, slowdown) => {
  const address = await data.payload()
  const at = address.lastIndexOf('/')
  const measure = (place: string, selector: string) =>
    visit(browser, { slowdown, cookie }, async (page) => {
      await page.open(address.slice(0, at), { selector: '[role=cell] button', text: 'large' })
      // As a link in the page does it.
      const go = `history.pushState({}, '', ${JSON.stringify(place)})`
      return page.readMaxTask(() => page.act(go, { selector, text: 'a row of a large answer' }))
    })
  return {
    ...nameTimed('payload_task', await measure(address, 'section[aria-label=Call] li')),
    ...nameTimed('payload_peek_task', await measure(`${address.slice(0, at)}?peek=${address.slice(at + 1)}`, 'aside')),
  }
}

/** The charts of a run with a million gradient steps. */
export const charts: Part = async ({ browser, cookie, data }, slowdown) => {
  const run = await data.run()
  const count = chartedKeys.length
  return visit(browser, { slowdown, cookie, height: 1_600 }, async (page) => {
    await page.open(run, { selector: 'figcaption b', count, drawn: true })
    const answers = collectAnswers(page.page)
    // By step, a run has a hundred places. By gradient step, its last values are near the millionth.
    const all = { selector: '[role=img][aria-label*="gradient step 999"]', count, drawn: true }
    const click = await page.click('text="gradient step"', all)
    return { ...nameTimed('charts_click', click), charts_lost_spikes: await countLostSpikes(page, await answers()) }
  })
}

interface Answer {
  metrics: { key: string; source: string; envelope?: { min: number[]; max: number[] } }[]
}

/** Collects the metrics that the page gets from now on. */
function collectAnswers(page: Page): () => Promise<Answer[]> {
  const answers: Promise<Answer>[] = []
  page.on('response', (response) => {
    if (/\/metrics\?.*x=index/.test(response.url())) answers.push(response.json() as Promise<Answer>)
  })
  return () => Promise.all(answers)
}

/**
 * Each metric has one value that is far above all others, and one far below. The page must have got both, and drawn them:
 * a chart leaves 8 % of its range free above its greatest value and below its least.
 */
async function countLostSpikes(page: Visit, answers: readonly Answer[]): Promise<number> {
  const drawn = await page.readDrawn()
  const metrics = answers.flatMap((answer) => answer.metrics).filter(({ source }) => source === 'gradient')
  let lost = 0
  for (const [at, key] of chartedKeys.entries()) {
    const { high, low } = spikesOf(key)
    const envelope = metrics.find((metric) => metric.key === key)?.envelope
    const [chart, margin] = [drawn[at], 0.08 / 1.16]
    const isAt = (place: number, wanted: number) => Math.abs(place - wanted) * (chart?.height ?? 0) <= 2
    if (!envelope || !chart || Math.max(...envelope.max) !== high || !isAt(chart.top, margin)) lost++
    if (!envelope || !chart || Math.min(...envelope.min) !== low || !isAt(chart.bottom, 1 - margin)) lost++
  }
  return lost
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
      const reported = await page.readInteractions()
      const others = Math.max(0, steps.length - reported.length)
      return [...reported, ...Array.from({ length: others }, () => minReportedMs)]
    })
  const paintsMs = [
    ...(await walk(run.replace(/\/runs\/million$/, ''), throughRun)),
    ...(await walk(calls, throughCalls)),
  ]
  return { click_p95_ms: percentile(paintsMs, 0.95) }
}
