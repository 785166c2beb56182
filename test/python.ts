import { spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { readLocalConfig } from '../local/config.ts'
import { installTrainerEnvironment } from '../local/install/python-environment.ts'
import { Board } from '../local/terminal/board.ts'
import { ensurePeersPython, peersEnv } from './support/client-python.ts'
import { installS3Server } from './support/s3-server.ts'
import { trainer } from './support/suites.ts'

// `npm run test:python -- ARGUMENT...` runs pytest in `trainer/`, with the environment of trainer and engine. Files of
// `peers/` have the environment that contains other trainers.

interface Environment {
  python: string
  env: NodeJS.ProcessEnv
}

async function findEnvironment(args: readonly string[]): Promise<Environment> {
  if (args.some((arg) => arg.startsWith('peers'))) return { python: await ensurePeersPython(), env: peersEnv }
  const { signal } = new AbortController()
  const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
  return { python, env: { TRAINYARD_TEST_S3_SERVER: await installS3Server() } }
}

const args = process.argv.slice(2)
const { python, env } = await findEnvironment(args)
const options: SpawnOptions = { cwd: trainer, env: { ...process.env, ...env }, stdio: 'inherit' }
const [code] = (await once(spawn(python, ['-m', 'pytest', ...args], options), 'exit')) as [number | null]
process.exitCode = code ?? 1
