import { runSuites, runVitest } from './support/suites.ts'

await runSuites([[{ name: 'images', run: (suite) => runVitest(suite, { project: 'images' }) }]])
