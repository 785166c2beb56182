import path from 'node:path'
import { childEnvironment } from '../../../../local/config.ts'
import { findFreePort } from '../../../support/free-port.ts'
import { withContestant } from '../../tracing/contestant.ts'
import { listTree } from '../processor.ts'
import { workloadNames } from '../workloads.ts'
import type { Contestant, EngineAddress } from './contestant.ts'

/** A bare Node pipe without keys, limits or any parsing. */
export async function withPipe<T>(engine: EngineAddress, work: (found: Contestant) => Promise<T>): Promise<T> {
  const port = await findFreePort()
  const server = path.join(import.meta.dirname, '..', 'pipe-server.ts')
  const how = {
    command: process.execPath,
    args: [server, String(port), engine.host, String(engine.port)],
    env: childEnvironment({}),
    url: `http://127.0.0.1:${port}`,
    healthPath: '/v1/models',
  }
  return withContestant(how, ({ pid }) =>
    work({
      name: 'pipe',
      host: '127.0.0.1',
      port,
      apiKey: 'nobody-looks',
      models: ['bench-model'],
      listProcesses: () => ({ own: listTree(pid), postgres: [] }),
      workloads: workloadNames,
      share: 1,
    }),
  )
}
