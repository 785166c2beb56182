import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Server } from './request.ts'
import { ensureClientPython } from '../../support/client-python.ts'

/** A running reference server of the package weave. */
export interface Reference {
  url: string
  stop: () => Promise<void>
}

/**
 * Starts a reference server with an empty store. Its records get the given user. It asks the other server for the internal
 * ids of projects, which digests contain.
 */
export async function startReference(user: string, other: Server): Promise<Reference> {
  const python = await ensureClientPython('weave-reference')
  const script = path.join(import.meta.dirname, '..', 'weave-reference', 'server.py')
  const child = spawn(python, [script, '--user', user], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, OTHER_URL: other.url, OTHER_KEY: other.apiKey },
  })
  return { url: await readUrl(child), stop: () => stop(child) }
}

async function readUrl(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the reference server ended with ${code as number}`)
  })
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  ended.catch(() => undefined)
  return (JSON.parse(line) as { url: string }).url
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}
