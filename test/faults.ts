import { parseArgs } from 'node:util'
import path from 'node:path'
import { readLocalConfig } from '../local/config.ts'
import { runSuites, runVitest } from './support/suites.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '500' },
    file: { type: 'string', default: path.join(readLocalConfig().cacheFolder, 'kill-points.jsonl') },
  },
})
if (!/^[1-9]\d*$/.test(values.kills)) throw new Error(`--kills is "${values.kills}"; it must be a whole number above 0`)

// Goes on from the file, until it has so many kills.
const env = { TRAINYARD_TEST_KILLS: values.kills, TRAINYARD_TEST_KILLS_FILE: path.resolve(values.file) }
const files = ['test/faults/kill-points.test.ts']
await runSuites([[{ name: 'faults', run: (suite) => runVitest(suite, { project: 'faults', files, env }) }]])
