import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { checkValue, type CheckOutcome, type CheckTask } from './check-value.ts'

export default { run: checkValue } satisfies ThreadFunction<CheckTask, CheckOutcome>
