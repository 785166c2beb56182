import { runSuites, runVitest } from './support/suites.ts'

await runSuites([[{ name: 'upgrade', run: (suite) => runVitest(suite, { project: 'upgrade' }) }]])
