import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readLocalConfig } from '../local/config.ts'
import { installTrainerEnvironment } from '../local/install/python-environment.ts'
import { Board } from '../local/terminal/board.ts'
import { installS3Server } from './support/s3-build.ts'
import { trainer } from './support/suites.ts'

// `npm run test:python -- ARGUMENT...` runs pytest in `trainer/`, with the environment of trainer and engine.

const { signal } = new AbortController()
const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
const env = { ...process.env, TRAINYARD_TEST_S3_SERVER: await installS3Server() }
const args = ['-m', 'pytest', ...process.argv.slice(2)]
const [code] = (await once(spawn(python, args, { cwd: trainer, env, stdio: 'inherit' }), 'exit')) as [number | null]
process.exitCode = code ?? 1
