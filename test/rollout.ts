import { runSuites, runVitest } from './support/suites.ts'

await runSuites([[{ name: 'rollout', run: (suite) => runVitest(suite, { project: 'rollout' }) }]])
