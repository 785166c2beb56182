import { runSuites, runVitest } from './support/suites.ts'

await runSuites([['hostile requests, all of them', (reports) => runVitest({ project: 'hostile', reports })]])
