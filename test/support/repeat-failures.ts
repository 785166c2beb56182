import type { Outcome } from './reports.ts'
import type { FinishedSuite, Suite } from './suite.ts'

// More failures than this are no accident.
const maxFiles = 3

type Repeat = (suite: Suite, files: string[]) => Promise<FinishedSuite>

/**
 * Runs the failed files of a whole run once more, alone, if they are few. The result of the second run counts. What
 * failed at first is then listed as flaky, because it depends on load or on chance: a fault of the test, or of the code.
 */
export async function repeatFailures(finished: FinishedSuite[], repeat: Repeat): Promise<FinishedSuite[]> {
  const count = finished.reduce((sum, { outcome }) => sum + failedFiles(outcome).length, 0)
  const canRepeat = count > 0 && count <= maxFiles && finished.every(({ outcome }) => failsInFilesOnly(outcome))
  if (!canRepeat) return finished
  const results: FinishedSuite[] = []
  for (const first of finished) results.push(await repeatSuite(first, repeat))
  return results
}

const failedFiles = ({ files }: Outcome) => [...files].filter(([, { failed }]) => failed > 0).map(([file]) => file)

/** False if something failed outside of files, such as a lint or the set-up of a stack. */
const failsInFilesOnly = ({ failed, files }: Outcome) =>
  failed === [...files.values()].reduce((sum, file) => sum + file.failed, 0)

async function repeatSuite(first: FinishedSuite, repeat: Repeat): Promise<FinishedSuite> {
  const files = failedFiles(first.outcome)
  if (files.length === 0) return first
  const second = await repeat(first.suite, files)
  return { ...second, seconds: first.seconds + second.seconds, outcome: merge(first.outcome, second.outcome) }
}

/** The first result, with the files of the second in place of its own. */
function merge(first: Outcome, second: Outcome): Outcome {
  const replaced = failedFiles(first).map((file) => first.files.get(file)!)
  return {
    passed: first.passed - replaced.reduce((sum, file) => sum + file.passed, 0) + second.passed,
    failed: second.failed,
    failures: second.failures,
    flaky: second.failed === 0 ? first.failures : [],
    skipped: [...new Set([...first.skipped, ...second.skipped])],
    files: new Map([...first.files, ...second.files]),
  }
}
