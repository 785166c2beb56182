import os from 'node:os'
import { chromium } from 'playwright-core'
import { buildConsole } from '../../console/build.ts'
import { describeError } from '../../local/command.ts'
import { findLaunchOptions } from '../support/chromium.ts'
import { findFreePort } from '../support/free-port.ts'
import { bringUpStack, type StackHandle } from '../support/global-setup.ts'
import { logIn } from '../support/log-in.ts'
import { withBenchServer, type BenchServer } from './bench-server.ts'
import { BenchData } from './console/data/bench-data.ts'
import { slowedName, writeGoals } from './console/goals.ts'
import { readOptions, type ConsoleOptions } from './console/options.ts'
import type { ConsoleBench, Figures, Part } from './console/part.ts'
import { charts } from './console/parts/charts.ts'
import { clicks } from './console/parts/clicks.ts'
import { firstPaint } from './console/parts/first-paint.ts'
import { live } from './console/parts/live.ts'
import { payload } from './console/parts/payload.ts'
import { table } from './console/parts/table.ts'
import { trace } from './console/parts/trace.ts'
import { viewers } from './console/parts/viewers.ts'
import { weights } from './console/parts/weights.ts'
import { median, round, type BenchResult } from './result.ts'
import { withPhoenix } from './tracing/phoenix.ts'

const parts = { weights, viewers, trace, payload, charts, live, table, clicks, 'first-paint': firstPaint } as const
type PartName = keyof typeof parts
const names = Object.keys(parts) as PartName[]

/** The page with all of a processor, and with a quarter of it. */
const slowdowns = [1, 4] as const

/**
 * Measures the console in a real browser, on a real stack, with much data. `--only NAMES` measures some parts; `--rounds N`
 * sets how often each is measured. Arize Phoenix runs beside it while the first paint is measured.
 */
export async function benchConsole(args: string[]): Promise<BenchResult> {
  const options = readOptions(args, names)
  await buildConsole()
  const { handle, tearDown } = await bringUpStack(false)
  const port = await findFreePort()
  const nodeOptions = [`--inspect=127.0.0.1:${port}`]
  const env = { TRAINYARD_DRAIN_SECONDS: '1' }
  try {
    const work = (server: BenchServer) => measure(handle, server, { ...options, inspector: `127.0.0.1:${port}` })
    return await withBenchServer(handle, work, { nodeOptions, env })
  } finally {
    await tearDown()
  }
}

type Settings = ConsoleOptions & { inspector: string }

async function measure(stack: StackHandle, server: BenchServer, settings: Settings): Promise<BenchResult> {
  const browser = await chromium.launch(await findLaunchOptions())
  const { inspector, only } = settings
  try {
    const cookie = await logIn(server.url, server.apiKey)
    const bench = { server, data: new BenchData(server), inspector, browser, cookie, phoenix: undefined }
    const figures: Figures = {}
    for (const name of names.filter((each) => only.includes(each))) {
      const run = (phoenix?: string) => measurePart(name, { ...bench, phoenix }, settings.rounds)
      const isBeside = parts[name] === firstPaint
      Object.assign(figures, isBeside ? await withPhoenix(stack.databaseUrl, ({ url }) => run(url)) : await run())
    }
    process.stdout.write(`${writeGoals(figures)}\n\n`)
    return { ratios: compare(figures), figures }
  } finally {
    await browser.close()
  }
}

/** A part that fails costs the others nothing, and makes the command fail. */
async function measurePart(name: PartName, bench: ConsoleBench, rounds: number): Promise<Figures> {
  const [load] = os.loadavg()
  process.stderr.write(`${name}: load ${round(load!)} of ${os.availableParallelism()} processors\n`)
  try {
    return await repeat(name, parts[name], { bench, rounds })
  } catch (error) {
    process.stderr.write(`${name}: ${describeError(error)}\n`)
    process.exitCode = 1
    return {}
  }
}

/** Measures each slowdown by turns. Returns the medians. */
async function repeat(
  name: PartName,
  part: Part,
  { bench, rounds }: { bench: ConsoleBench; rounds: number },
): Promise<Figures> {
  const measureOnce = await part.prepare(bench)
  const all: Record<string, number[]> = {}
  for (let at = 0; at < (part.isOnce ? 1 : rounds); at++) {
    for (const slowdown of part.isOnce ? [1] : slowdowns) {
      const found = await measureOnce(slowdown)
      process.stderr.write(`${name}, round ${at + 1}, x${slowdown}: ${JSON.stringify(found)}\n`)
      for (const [figure, value] of Object.entries(found))
        (all[slowdown === 1 ? figure : slowedName(figure)] ??= []).push(value)
    }
  }
  return Object.fromEntries(Object.entries(all).map(([figure, values]) => [figure, round(median(values))]))
}

function compare(figures: Figures): Record<string, number> {
  const { first_paint_ms: ours, phoenix_first_paint_ms: theirs } = figures
  return ours === undefined || theirs === undefined ? {} : { phoenix_first_paint_vs_ours: round(theirs / ours) }
}
