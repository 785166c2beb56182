// Loaded before the main file of a control process (`node --import`). It lets the process kill itself at a named point, and
// its queries fail. Nothing of it is in the product.
//
// What a process that dies leaves behind are its effects: statements and transactions in Postgres, requests to the Kubernetes
// API, changes of the artifact store, of the node agent's files and processes. Nobody can tell two deaths between the same two effects apart. So the points are the
// moments before and after each effect, and no line of the product has to be marked.

import childProcess, { spawn } from 'node:child_process'
import { promises as files } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { FolderStore } from '../../../artifacts/store/folder-store.ts'
import { KubeClient, type KubeRequest } from '../../../lib/kube/client.ts'
import { folderVariable, markReached, readOrders } from './orders.ts'
import { findPoint, type Effect, type WatchedPart, type When } from './points.ts'
import { watchQueries } from './watch-queries.ts'

const supervisedVariable = 'TRAINYARD_TEST_SUPERVISED'
// The pause before a process starts again.
const pauseMs = 50

const folder = process.env[folderVariable]
const mainFiles = /(apiserver|operator|status-server|node-agent)\/main\.ts$/
const part = mainFiles.exec(process.argv[1] ?? '')?.[1] as WatchedPart | undefined
if (folder !== undefined && part !== undefined && isMainThread) {
  if (process.env[supervisedVariable] === undefined) await supervise()
  else obey(folder, part)
}

/** Starts the process, and again whenever it ends, as a kubelet does. Never returns: the main file does not run here. */
async function supervise(): Promise<never> {
  const args = [...process.execArgv, ...process.argv.slice(1)]
  const env = { ...process.env, [supervisedVariable]: '1' }
  let isStopping = false
  const start = () => {
    const child = spawn(process.execPath, args, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
    process.once('SIGTERM', () => {
      isStopping = true
      child.kill('SIGTERM')
    })
    child.on('exit', (code) => {
      if (isStopping) process.exit(code ?? 1)
      process.removeAllListeners('SIGTERM')
      setTimeout(start, pauseMs)
    })
  }
  start()
  return new Promise(() => {})
}

function obey(orders: string, ownPart: WatchedPart): void {
  // It does not outlive its supervisor, which a test may kill.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.channel?.unref()
  const reach = (when: When, effects: Effect[]) => {
    if (effects.length === 0) return
    const { kills, most } = readOrders(orders, ownPart)
    const point = most > 0 ? findPoint(kills, when, effects) : undefined
    if (!point) return
    markReached(orders, ownPart, point.name)
    process.kill(process.pid, 'SIGKILL')
    // Nothing more happens until the signal arrives.
    for (;;);
  }
  watchRequests(reach)
  if (ownPart === 'node-agent') return watchMachine(reach)
  watchQueries(reach, () => readOrders(orders, ownPart).queryFaults)
  watchStore(reach)
}

type Reach = (when: When, effects: Effect[]) => void

function watchRequests(reach: Reach): void {
  const client = KubeClient.prototype as unknown as {
    request: (this: KubeClient, asked: KubeRequest) => Promise<unknown>
  }
  const { request } = client
  client.request = async function (asked) {
    const { method = 'GET', path } = asked
    const effects: Effect[] = method === 'GET' ? [] : [{ kind: 'kube', text: `${method} ${path}` }]
    reach('before', effects)
    const answer = await request.call(this, asked)
    reach('after', effects)
    return answer
  }
}

function watchStore(reach: Reach): void {
  const store = FolderStore.prototype as unknown as Record<
    string,
    (key: string, ...rest: unknown[]) => Promise<unknown>
  >
  for (const name of ['put', 'adopt', 'remove', 'removeAll', 'copyAll'] satisfies (keyof FolderStore)[]) {
    const change = store[name]!
    store[name] = async function (this: FolderStore, key, ...rest) {
      const effects: Effect[] = [{ kind: 'store', text: `${name} ${key}` }]
      reach('before', effects)
      const result = await change.call(this, key, ...rest)
      reach('after', effects)
      return result
    }
  }
}

/** Watches renamed and removed files, and started and signalled processes. */
function watchMachine(reach: Reach): void {
  const { rename, rm } = files
  const watch = async <T>(effect: Effect, work: () => Promise<T>) => {
    reach('before', [effect])
    const result = await work()
    reach('after', [effect])
    return result
  }
  files.rename = (from, to) => watch({ kind: 'file', text: `rename ${String(to)}` }, () => rename(from, to))
  files.rm = (file, options) => watch({ kind: 'file', text: `rm ${String(file)}` }, () => rm(file, options))
  const start = childProcess.spawn as (...args: unknown[]) => childProcess.ChildProcess
  const spawnWatched = (program: string, args: readonly string[], ...rest: unknown[]) => {
    const effect: Effect = { kind: 'process', text: `spawn ${program} ${args.join(' ')}` }
    reach('before', [effect])
    const child = start(program, args, ...rest)
    reach('after', [effect])
    return child
  }
  childProcess.spawn = spawnWatched as typeof childProcess.spawn
  const kill = process.kill.bind(process)
  process.kill = (pid, signal) => {
    const effects: Effect[] = pid === process.pid ? [] : [{ kind: 'process', text: `kill ${String(signal)}` }]
    reach('before', effects)
    const result = kill(pid, signal)
    reach('after', effects)
    return result
  }
  syncBuiltinESMExports()
}
