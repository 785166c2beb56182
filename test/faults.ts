import { parseArgs } from 'node:util'
import path from 'node:path'
import { readLocalConfig } from '../local/config.ts'
import { installTrainerEnvironment } from '../local/install/python-environment.ts'
import { Board } from '../local/terminal/board.ts'
import { describeTotal, readTotal } from './faults/kill-points/total.ts'
import { ensureSeed } from './support/random-cases.ts'
import { runPytest, runSuites, runVitest, type Suite } from './support/suites.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '500' },
    file: { type: 'string', default: path.join(readLocalConfig().cacheFolder, 'kill-points.jsonl') },
    // The control parts and a node agent alternately, until the file has so many kills; or each point of trainer or engine once.
    part: { type: 'string', default: 'control' },
  },
})
if (!/^[1-9]\d*$/.test(values.kills)) throw new Error(`--kills is "${values.kills}"; it must be a whole number above 0`)

const file = path.resolve(values.file)
const env = { TRAINYARD_TEST_KILLS: values.kills, TRAINYARD_TEST_KILLS_FILE: file, TRAINYARD_TEST_NIGHTLY: '1' }

const runTest = (suite: Parameters<Suite['run']>[0], project: string, test: string) =>
  runVitest(suite, { project, files: [test], env })

const parts: Record<string, Suite['run']> = {
  control: (suite) => runTest(suite, 'faults', 'test/faults/kill-points.test.ts'),
  trainer: async (suite) => {
    const signal = new AbortController().signal
    const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
    const test = 'test_an_rl_job_that_is_killed_at_every_point_has_the_same_result'
    return runPytest(suite, { python, env, paths: [`trainyard_trainer/survival_test.py::${test}`] })
  },
  engine: (suite) => runTest(suite, 'engine', 'test/engine/engine-kills.nightly.test.ts'),
}
const run = parts[values.part]
if (run === undefined) throw new Error(`--part is "${values.part}"; it must be one of ${Object.keys(parts).join(', ')}`)

await runSuites([[{ name: values.part, run }]])
console.log(describeTotal(readTotal(file, ensureSeed())))
