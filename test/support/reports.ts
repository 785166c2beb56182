import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** The results of tests, from the runners' own reports. */
export interface Outcome {
  passed: number
  failed: number
  /** The failed tests, with their errors. */
  failures: string[]
  skipped: string[]
  /** The failed tests in quarantine, with their errors. They do not count. */
  quarantined: string[]
  files: Map<string, FileOutcome>
}

interface FileOutcome {
  seconds: number
  passed: number
  failed: number
}

export const noTests = (): Outcome => ({
  passed: 0,
  failed: 0,
  failures: [],
  skipped: [],
  quarantined: [],
  files: new Map(),
})

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  testResults: VitestFile[]
}

interface VitestFile {
  name: string
  startTime: number
  endTime: number
  status: string
  /** Why the whole file failed, if it did. */
  message: string
  assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
}

export async function readVitestReport(file: string, root: string): Promise<Outcome> {
  const report = JSON.parse(await readFile(file, 'utf8')) as VitestReport
  const tests = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: path.relative(root, name) })),
  )
  const brokenFiles = report.testResults.filter(isBroken)
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    failures: [
      ...tests
        .filter((test) => test.status === 'failed')
        .map((test) => `${test.file}: ${test.fullName}\n${test.failureMessages.join('\n')}`),
      ...brokenFiles.map(({ name, message }) => `${path.relative(root, name)}\n${message}`),
    ],
    skipped: tests.filter((test) => test.status === 'skipped').map((test) => test.fullName),
    quarantined: [],
    files: new Map(report.testResults.map((result) => [path.relative(root, result.name), countFile(result)])),
  }
}

/** Whether a file failed outside of its tests. */
const isBroken = ({ status, assertionResults }: VitestFile) =>
  status === 'failed' && assertionResults.every((test) => test.status !== 'failed')

function countFile(result: VitestFile): FileOutcome {
  const count = (status: string) => result.assertionResults.filter((test) => test.status === status).length
  return {
    seconds: (result.endTime - result.startTime) / 1000,
    passed: count('passed'),
    failed: count('failed') + Number(isBroken(result)),
  }
}

const testCase =
  /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?\btime="([\d.]+)"[^>]*?(?:\/>|>([^]*?)<\/testcase>)/g
const failureMessage = /^<(?:failure|error) message="([^"]*)"/
const skipMessage = /^<skipped [^>]*message="([^"]*)"/

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", '#10': '\n', amp: '&' }

const unescapeXml = (text: string) => text.replace(/&([#\w]+);/g, (whole, name: string) => entities[name] ?? whole)

export async function readJunit(file: string, folder: string): Promise<Outcome> {
  const xml = await readFile(file, 'utf8')
  const count = (name: string) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1])
  const failed = count('failures') + count('errors')
  const outcome: Outcome = { ...noTests(), passed: count('tests') - failed - count('skipped'), failed }
  for (const [, module = '', name, seconds, result = ''] of xml.matchAll(testCase)) {
    const why = (pattern: RegExp) => pattern.exec(result)?.[1]
    const [failure, skip] = [why(failureMessage), why(skipMessage)]
    if (failure !== undefined) outcome.failures.push(`${module}: ${unescapeXml(`${name}\n${failure}`)}`)
    if (skip !== undefined) outcome.skipped.push(`${name}: ${skip}`)
    const source = `${path.join(folder, ...module.split('.'))}.py`
    const sum = outcome.files.get(source) ?? { seconds: 0, passed: 0, failed: 0 }
    outcome.files.set(source, {
      // The time of a case includes its fixtures.
      seconds: sum.seconds + Number(seconds),
      passed: sum.passed + Number(failure === undefined && skip === undefined),
      failed: sum.failed + Number(failure !== undefined),
    })
  }
  return outcome
}
