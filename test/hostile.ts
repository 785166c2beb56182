import { runSuites, runVitest } from './support/suites.ts'

await runSuites([[{ name: 'hostile', run: (suite) => runVitest(suite, { project: 'hostile' }) }]])
