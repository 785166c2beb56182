import { runSuites, runVitest } from './support/suites.ts'

await runSuites([[{ name: 'helm', run: (suite) => runVitest(suite, { project: 'helm' }) }]])
