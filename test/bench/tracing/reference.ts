import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { childEnvironment } from '../../../local/config.ts'
import { ensureClientPython } from '../../support/client-python.ts'
import { findFreePort } from '../../support/free-port.ts'
import { withContestant, type Contestant } from './contestant.ts'

const script = path.join(import.meta.dirname, '..', '..', 'clients', 'weave-reference', 'server.py')

/** Runs the reference server of the package weave, with its SQLite database on disk. */
export async function withReference<T>(work: (reference: Contestant) => Promise<T>): Promise<T> {
  const python = await ensureClientPython('weave-reference')
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-reference-'))
  const port = await findFreePort()
  const how = {
    command: python,
    args: [script, '--port', String(port), '--database', path.join(folder, 'traces.db')],
    env: childEnvironment({ HOME: folder }),
    url: `http://127.0.0.1:${port}`,
    healthPath: '/health',
  }
  try {
    return await withContestant(how, work)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
