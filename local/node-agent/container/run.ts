import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { writeAtomically } from '../durable-file.ts'
import { parseStat, readBootId } from '../../process-stat.ts'
import { isAlive, type ProcessId } from './process-table.ts'

/** How a run of a container ended. `reason` is set when the exit code does not show it. */
export interface RunExit {
  code: number
  finishedAt: Date
  reason?: string
  message?: string
}

/** One run of a container: a numbered folder, and a process while it runs. */
export interface Run {
  number: number
  folder: string
  startedAt: Date
  /** Crashes in a row before this run. */
  crashes: number
  /** Absent when nothing was started. */
  main?: ProcessId
  /** Absent while it runs. */
  exit?: RunExit
  /** The run was ended by a shutdown of the node. The container continues after the next start. */
  interrupted: boolean
}

interface RunRecord {
  boot: string
  startedAt: string
  crashes: number
}

/** The exit of a run that ended while no agent was watching; a kubelet uses the same code. */
const lostExit = { code: 137, reason: 'ContainerStatusUnknown', message: 'the process is gone and left no exit code' }
// Two runs are kept: the last one, and the one before it for `logs --previous`.
const keptRuns = 2

/** Creates the folder of the next run. Its process may only start after this. */
export async function createRun(container: string, number: number, crashes: number): Promise<Run> {
  const folder = path.join(container, String(number))
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const startedAt = new Date()
  const record: RunRecord = { boot: readBootId(), startedAt: startedAt.toISOString(), crashes }
  await writeAtomically(path.join(folder, 'run.json'), JSON.stringify(record))
  await rm(path.join(container, String(number - keptRuns)), { recursive: true, force: true })
  return { number, folder, startedAt, crashes, interrupted: false }
}

/** The newest runs of a container, newest first. At most two. */
export async function listRuns(container: string): Promise<Run[]> {
  const names = await readdir(container).catch(() => [])
  const numbers = names.map(Number).filter(Number.isInteger)
  numbers.sort((a, b) => b - a)
  const runs = await Promise.all(numbers.slice(0, keptRuns).map((number) => readRun(container, number)))
  return runs.filter((run) => run !== undefined)
}

/** Reads the current state of a run. If its process is gone without an exit code, a lost exit is recorded. */
export async function readRun(container: string, number: number): Promise<Run | undefined> {
  const folder = path.join(container, String(number))
  const record = await readRecord(folder)
  if (!record) return undefined
  const run: Run = {
    number,
    folder,
    startedAt: new Date(record.startedAt),
    crashes: record.crashes,
    interrupted: await exists(path.join(folder, 'interrupted')),
  }
  // Process ids of an earlier boot are meaningless.
  const main = record.boot === readBootId() ? await readProcess(path.join(folder, 'main')) : undefined
  if (main) run.main = main
  const exit = await readExit(folder)
  if (exit) return { ...run, exit }
  if (await isRunning(folder, record.boot, main)) return run
  return { ...run, exit: (await readExit(folder)) ?? (await recordExit(run, lostExit)) }
}

/** Records the end of a run without a shim. */
export async function recordExit(run: Run, exit: Omit<RunExit, 'finishedAt'>): Promise<RunExit> {
  await writeAtomically(path.join(run.folder, 'reason.json'), JSON.stringify(exit))
  await writeAtomically(path.join(run.folder, 'exit'), `${exit.code}\n`)
  return { ...exit, finishedAt: new Date() }
}

/** Records that a run ends only because the node stops. The run is stopped after this. */
export async function markInterrupted(run: Run): Promise<void> {
  await writeAtomically(path.join(run.folder, 'interrupted'), '')
}

async function isRunning(folder: string, boot: string, main: ProcessId | undefined): Promise<boolean> {
  if (boot !== readBootId()) return false
  if (main && isAlive(main)) return true
  // The shim writes the exit code shortly after the main process has ended.
  const shim = await readProcess(path.join(folder, 'shim'))
  return shim !== undefined && isAlive(shim)
}

async function readRecord(folder: string): Promise<RunRecord | undefined> {
  const text = await readFile(path.join(folder, 'run.json'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as RunRecord)
}

async function readProcess(file: string): Promise<ProcessId | undefined> {
  const line = await readFile(file, 'utf8').catch(() => '')
  const found = parseStat(line)
  return found && { pid: found.pid, startTicks: found.startTicks }
}

async function readExit(folder: string): Promise<RunExit | undefined> {
  const file = path.join(folder, 'exit')
  const text = await readFile(file, 'utf8').catch(() => '')
  if (!text.endsWith('\n')) return undefined
  const reason = await readFile(path.join(folder, 'reason.json'), 'utf8').catch(() => '{}')
  const { mtime } = await stat(file)
  return { ...(JSON.parse(reason) as Partial<RunExit>), code: Number(text), finishedAt: mtime }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
