import { runSuites, runVitest } from './support/suites.ts'

await runSuites([[{ name: 'backup', run: (suite) => runVitest(suite, { project: 'backup' }) }]])
