import type { Figures } from './part.ts'
import { cpuName } from './visit.ts'

/** What is promised of a figure: at most so much, and in a page with a quarter of the processor. */
interface Goal {
  title: string
  max?: number
  slowed?: number
}

/** All figures that are printed for people, in their order. Those without a goal stand beside one that has one. */
const goals: Readonly<Record<string, Goal>> = {
  shell_gzip_kb: { title: 'JavaScript and CSS of the shell, kB after gzip', max: 102 },
  chunk_gzip_kb: { title: 'the most that a screen adds, kB after gzip', max: 40 },
  first_paint_ms: { title: 'first paint of the start page, empty caches', max: 300, slowed: 1_000 },
  phoenix_first_paint_ms: { title: 'the same of Arize Phoenix' },
  start_page_ms: { title: 'the start page with its content' },
  click_p95_ms: { title: 'a click until the next paint, p95', max: 100, slowed: 200 },
  screen_change_ms: { title: 'a click until another screen shows its data' },
  table_click_ms: { title: '100,000 calls: a click until the first rows', max: 400 },
  table_open_ms: { title: 'the same from the address, empty caches' },
  table_frame_ms: { title: 'the longest frame of 60 jumps through them', max: 100 },
  table_task_ms: { title: 'the longest task meanwhile' },
  table_jump_p95_ms: { title: 'a jump until its rows are there, p95' },
  table_heap_mb: { title: 'the heap of the page afterwards, MB', max: 80 },
  trace_click_ms: { title: 'a trace of 10,000 spans: a click until its tree', max: 500 },
  trace_open_ms: { title: 'the same from the address, empty caches' },
  trace_task_ms: { title: 'the longest task meanwhile' },
  trace_select_ms: { title: 'a click on a span until its payload' },
  charts_click_ms: { title: '8 charts of a million points: a click until all are drawn', max: 1_000 },
  charts_open_ms: { title: 'the same from the address, empty caches' },
  charts_lost_spikes: { title: 'spikes in them that are not drawn, of 16', max: 0 },
  payload_task_ms: { title: 'a call of 20 MB: the longest task of its page', max: 100 },
  payload_open_ms: { title: 'a click until it is shown' },
  payload_peek_task_ms: { title: 'the same call beside the table: the longest task', max: 100 },
  event_to_pixel_p95_ms: { title: 'an event until it is painted, 50 viewers, p95', max: 1_000 },
  viewer_heap_kb: { title: 'heap and buffers of the apiserver for a viewer, kB', max: 50 },
  viewer_rss_kb: { title: 'its memory for a viewer (RSS), kB' },
}

export const slowedName = (name: string) => `${name}_x4`

/**
 * Markdown for people. Times are in ms by the clock, and behind them the processor time of the page's main thread in them:
 * what a machine without other work would take at least.
 */
export function writeGoals(figures: Figures): string {
  const rows = Object.entries(goals)
    .filter(([name]) => name in figures)
    .map(([name, { title, max, slowed }]) => {
      const cells = [write(figures, { name, max }), write(figures, { name, max: slowed, rename: slowedName })]
      return `| ${title} | ${max ?? ''} | ${cells.join(' | ')} |`
    })
  const head = '| figure (ms by the clock; of the main thread) | goal | measured | with a quarter of the processor |'
  return [head, '|---|---|---|---|', ...rows].join('\n')
}

interface Cell {
  name: string
  max: number | undefined
  rename?: (name: string) => string
}

function write(figures: Figures, { name, max, rename = (same) => same }: Cell): string {
  const value = figures[rename(name)]
  const cpu = name.endsWith('_ms') ? figures[rename(cpuName(name))] : undefined
  if (value === undefined) return ''
  const both = cpu === undefined ? `${value}` : `${value}; ${cpu}`
  return max !== undefined && value > max ? `${both}: missed` : both
}
