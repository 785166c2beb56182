import { runSuites, runVitest } from './support/suites.ts'

await runSuites([[{ name: 'kueue', run: (suite) => runVitest(suite, { project: 'kueue' }) }]])
