import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { findExecutable } from '../../local/install/find-programs.ts'
import { startChildProgram } from './child-program.ts'
import { findFreePort } from './free-port.ts'
import { findDebianProgram } from './debian-package.ts'

/** A server that is scraped, with the labels of its series. */
export interface ScrapeTarget {
  address: string
  labels: Record<string, string>
}

/** A running Prometheus, on loopback. */
export interface Prometheus {
  /** The values of an expression now. @throws {Error} if Prometheus does not understand it */
  query: (expression: string) => Promise<number[]>
  stop: () => Promise<void>
}

/** Starts Prometheus in a temporary folder. It scrapes the targets every second. */
export async function startPrometheus(targets: readonly ScrapeTarget[]): Promise<Prometheus> {
  const program = await installPrometheus()
  const folder = await mkdtemp(path.join(tmpdir(), 'prometheus-'))
  const file = path.join(folder, 'prometheus.yml')
  await writeFile(file, JSON.stringify(describeScrapes(targets)))
  const port = await findFreePort()
  const storage = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`]
  const args = [...storage, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error']
  const url = `http://127.0.0.1:${port}`
  const ready = async () => {
    if (!(await fetch(`${url}/-/ready`)).ok) throw new Error('Prometheus is not ready')
  }
  const stop = await startChildProgram({ command: program, args, folder, ready, timeoutMs: 30_000 })
  return { query: (expression) => query(url, expression), stop }
}

/** Finds a program of Prometheus in the search path, or unpacks Debian's. @throws {Error} without either */
export async function installPrometheus(name: 'prometheus' | 'promtool' = 'prometheus'): Promise<string> {
  const installed = await findExecutable(name, readLocalConfig().searchPath)
  return installed ?? (await findDebianProgram(`usr/bin/${name}`, { name: 'prometheus' })).command
}

function describeScrapes(targets: readonly ScrapeTarget[]): object {
  const configs = targets.map(({ address, labels }) => ({ targets: [address], labels }))
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [{ job_name: 'trainyard', static_configs: configs }],
  }
}

interface Answer {
  error?: string
  data?: { result: { value: [number, string] }[] }
}

async function query(url: string, expression: string): Promise<number[]> {
  const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`)
  const { error, data } = (await response.json()) as Answer
  if (!data) throw new Error(`${expression}: ${error}`)
  return data.result.map(({ value }) => Number(value[1]))
}
