import { otherMachineSuites } from './support/other-machine/suites.ts'
import { runSuites } from './support/suites.ts'

await runSuites([[...otherMachineSuites]])
