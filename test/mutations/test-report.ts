import path from 'node:path'

/** The results of one test file. */
export interface Counts {
  passed: number
  failed: number
}

interface VitestReport {
  testResults: { name: string; assertionResults: { status: string }[] }[]
}

/** Reads vitest's JSON report: counts by test file, relative to `root`. */
export function readVitestCounts(report: string, root: string): Map<string, Counts> {
  const { testResults } = JSON.parse(report) as VitestReport
  return new Map(
    testResults.map(({ name, assertionResults }) => {
      const count = (wanted: string) => assertionResults.filter(({ status }) => status === wanted).length
      return [path.relative(root, name), { passed: count('passed'), failed: count('failed') }]
    }),
  )
}

const testCase = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>(?:<(skipped|failure|error)\b)?)/g

/**
 * Reads pytest's JUnit report: counts by test file, in `folder`. An error in a fixture counts as a failure, because the
 * test needs the fixture.
 */
export function readJunitCounts(report: string, folder: string): Map<string, Counts> {
  const files = new Map<string, Counts>()
  for (const [, module, name, outcome] of report.matchAll(testCase)) {
    // If a file cannot be imported, its module is the name.
    const file = `${path.join(folder, ...(module || name)!.split('.'))}.py`
    const counts = files.get(file) ?? { passed: 0, failed: 0 }
    if (!outcome) counts.passed++
    else if (outcome !== 'skipped') counts.failed++
    files.set(file, counts)
  }
  return files
}
