import { withMachine } from './support/images/machine-lock.ts'
import { runSuites, runVitest } from './support/suites.ts'

await runSuites([[{ name: 'images', run: (suite) => withMachine(() => runVitest(suite, { project: 'images' })) }]])
